package property

import (
	"slices"
	"testing"
)

func TestS13Columns(t *testing.T) {
	money, whole, stamp := Type{Kind: Decimal, Scale: 2}, Type{Kind: Int64}, Type{Kind: Timestamp}
	d := Declarations{
		Any:    {"note": {Kind: String}, "seen": stamp},
		"PAY":  {"amount": money, "ts": stamp},
		"GIFT": {"amount": whole, "note": {Kind: String}},
		"WIRE": {"amount": money},
	}
	c := d.Columns()
	want := []Column{{"amount", whole}, {"amount", money}, {"note", Type{Kind: String}}, {"seen", stamp}}
	if !slices.Equal(c.All(), want) {
		t.Fatalf("columns %v, want %v", c.All(), want)
	}
	for _, x := range []struct {
		label, name string
		column      int
		ok          bool
	}{
		{"PAY", "amount", 1, true},
		{"WIRE", "amount", 1, true},
		{"GIFT", "amount", 0, true},
		{"", "amount", 0, false},
		{"OTHER", "amount", 0, false},
		{"GIFT", "note", 2, true},
		{"", "note", 2, true},
		{"PAY", "ts", TS, true},
		{"WIRE", "ts", 0, false},
		{"OTHER", "seen", 3, true},
	} {
		if column, ok := c.Of(x.label, x.name); column != x.column || ok != x.ok {
			t.Errorf("Of(%q, %q) = %d %v, want %d %v", x.label, x.name, column, ok, x.column, x.ok)
		}
		if x.ok && !c.Under(x.label).Has(x.column) {
			t.Errorf("%q does not declare column %d", x.label, x.column)
		}
	}
	for i, col := range want {
		if at, ok := c.Find(col.Name, col.Type); at != i || !ok {
			t.Errorf("Find(%v) = %d %v, want %d", col, at, ok, i)
		}
	}
	if at, ok := c.Find("note", whole); ok {
		t.Errorf("a note that is an int64 is found at %d", at)
	}
	for label, n := range map[string]int{"": 2, "PAY": 4, "GIFT": 3, "WIRE": 3, "OTHER": 2, Any: 2} {
		for column := TS - 1; column <= len(want); column++ {
			if c.Under(label).Has(column) {
				n--
			}
		}
		if n != 0 {
			t.Errorf("%q declares a number of columns that is off by %d", label, -n)
		}
	}
	if got := c.Under("PAY").All(); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("Under(PAY) = %v", got)
	}
	if got := c.Under("").All(); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("Under of no label = %v", got)
	}
	if got := Declarations(nil).Columns(); len(got.All()) != 0 || got.Under("PAY").All() != nil {
		t.Errorf("columns %v of no declaration", got.All())
	}
}

func TestStoredBits(t *testing.T) {
	float, err := Float(-2.5)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []Value{Int(-3), Units(1234, 2), Time(5), Truth(true), Truth(false), float} {
		if got := Stored(v.Type(), v.Bits()); got != v {
			t.Errorf("%v is stored as %v", v, got)
		}
	}
}
