package cpu

import "motifd/matcher/plan"

// Filter returns the candidate filter that the backend keeps between Load and the next Load. A backend that has this one
// beside it over the same graph reads it, in place of one of its own; it is changed by this backend's methods alone.
func (b *Backend) Filter() *plan.Filter { return b.filter }
