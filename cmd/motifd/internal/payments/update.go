package payments

import (
	"encoding/json"

	"motifd/dyngraph"
)

// Update is an update in JSON, as the input topic of motifd takes it.
type Update struct {
	Op        string          `json:"op"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Label     string          `json:"label"`
	FromLabel string          `json:"from_label,omitempty"`
	ToLabel   string          `json:"to_label,omitempty"`
	ID        string          `json:"id,omitempty"`
	TS        int64           `json:"ts,omitempty"`
	Props     json.RawMessage `json:"props,omitempty"`
}

// NewUpdate returns u in JSON form.
func NewUpdate(u *dyngraph.Update) Update {
	return Update{u.Op.String(), u.From, u.To, u.Label, u.FromLabel, u.ToLabel, u.Attr.ID, u.Attr.TS,
		u.Attr.Props}
}
