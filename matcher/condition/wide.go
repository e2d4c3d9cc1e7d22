package condition

import (
	"math/big"

	"motifd/dyngraph/property"
)

// Wide is a value behind WITH (DESIGN S24): a property's or, where Units is set, an exact number of Units * 10^-Scale.
// Exact numbers are computed in 128 bits there; a result beyond is null. The zero Wide is null.
type Wide struct {
	Value property.Value
	Units *big.Int // never changed once it is set
	Scale uint8
}

// IsNull reports whether the value is missing.
func (w Wide) IsNull() bool { return w.Units == nil && w.Value.IsNull() }

// WideBits is the size of an exact number behind WITH, the sign included.
const WideBits = 128

// NewWide returns an exact number, null where its units are beyond 128 bits.
func NewWide(units *big.Int, scale uint8) Wide {
	least := new(big.Int).Lsh(big.NewInt(-1), WideBits-1)
	if units.BitLen() >= WideBits && units.Cmp(least) != 0 {
		return Wide{}
	}
	return Wide{Units: units, Scale: scale}
}

// widened returns whole numbers as units.
func widened(v property.Value) Wide {
	if v.Type().Exact() || v.Type().Kind == property.Timestamp {
		return Wide{Units: big.NewInt(v.Whole()), Scale: v.Type().Scale}
	}
	return Wide{Value: v}
}

// EvalWide is Eval for a condition behind WITH.
func (c *Condition) EvalWide(values []Wide) Truth { return c.wideTruth(c.start, values) }

// EvalWide is Eval for a formula behind WITH.
func (f *Formula) EvalWide(values []Wide) Wide { return f.wide(f.start, values) }

func (p *program) wideTruth(i int32, values []Wide) Truth {
	t := &p.instrs[i]
	switch t.code {
	case truth:
		return t.truth
	case isTrue:
		v := p.wide(t.a, values)
		if v.IsNull() {
			return Unknown
		}
		return Of(v.Value.True())
	case compare:
		order, ok := compareWide(p.wide(t.a, values), p.wide(t.b, values))
		if !ok {
			return Unknown
		}
		return Of(t.relation.holds(order))
	case in:
		return t.members.hasWide(p.wide(t.a, values))
	case startsWith:
		return hasPrefix(p.wide(t.a, values).Value, p.wide(t.b, values).Value)
	case isNull:
		return Of(p.wide(t.a, values).IsNull())
	case labelled:
		return Of(t.labels.hold(values[t.a].Value))
	case not:
		return p.wideTruth(t.a, values).Not()
	}
	r, join := True, Truth.And
	switch t.code {
	case or:
		r, join = False, Truth.Or
	case xor:
		r, join = False, Truth.Xor
	}
	for _, k := range p.lists[t.a:t.b] {
		r = join(r, p.wideTruth(k, values))
	}
	return r
}

func (p *program) wide(i int32, values []Wide) Wide {
	t := &p.instrs[i]
	switch t.code {
	case constant:
		return widened(t.value)
	case read:
		if v := values[t.a]; v.Units != nil {
			return v
		}
		return widened(values[t.a].Value)
	case neg:
		v := p.wide(t.a, values)
		if v.IsNull() {
			return v
		}
		return NewWide(new(big.Int).Neg(v.Units), v.Scale)
	}
	a, b := p.wide(t.a, values), p.wide(t.b, values)
	if a.IsNull() || b.IsNull() {
		return Wide{}
	}
	if t.code == mul {
		return NewWide(new(big.Int).Mul(a.Units, b.Units), a.Scale+b.Scale)
	}
	x, y, scale := aligned(a, b)
	if t.code == sub {
		return NewWide(new(big.Int).Sub(x, y), scale)
	}
	return NewWide(new(big.Int).Add(x, y), scale)
}

// aligned returns two exact numbers in units of one scale.
func aligned(a, b Wide) (x, y *big.Int, scale uint8) {
	scale = max(a.Scale, b.Scale)
	return scaled(a, scale), scaled(b, scale), scale
}

func scaled(w Wide, scale uint8) *big.Int {
	if w.Scale == scale {
		return w.Units
	}
	return new(big.Int).Mul(w.Units, tenTo(scale-w.Scale))
}

// compareWide is property.Compare for wide values.
func compareWide(a, b Wide) (order int, ok bool) {
	switch {
	case a.IsNull() || b.IsNull():
		return 0, false
	case a.Units == nil && b.Units == nil:
		return property.Compare(a.Value, b.Value)
	case a.Units != nil && b.Units != nil:
		x, y, _ := aligned(a, b)
		return x.Cmp(y), true
	}
	x, ok := a.rational()
	y, also := b.rational()
	if !ok || !also {
		return 0, false
	}
	return x.Cmp(y), true
}

// rational returns the mathematical value of a number.
func (w Wide) rational() (*big.Rat, bool) {
	if w.Units != nil {
		return new(big.Rat).SetFrac(w.Units, tenTo(w.Scale)), true
	}
	if w.Value.Type().Kind != property.Float64 {
		return nil, false
	}
	return new(big.Rat).SetFloat64(w.Value.Float64()), true
}

// hasWide is has for a wide value.
func (m *members) hasWide(v Wide) Truth {
	if v.IsNull() {
		return Unknown
	}
	for _, x := range m.values {
		order, ok := compareWide(v, widened(x))
		switch {
		case !ok:
			return Unknown
		case order == 0:
			return True
		}
	}
	if m.null {
		return Unknown
	}
	return False
}

// Narrow returns the value where its units are an int64, null otherwise.
func (w Wide) Narrow() property.Value {
	switch {
	case w.Units == nil:
		return w.Value
	case !w.Units.IsInt64():
		return property.Value{}
	case w.Scale == 0:
		return property.Int(w.Units.Int64())
	}
	return property.Units(w.Units.Int64(), w.Scale)
}

// Append appends the value as property.Value.Append does.
func (w Wide) Append(b []byte) []byte {
	if w.Units == nil {
		return w.Value.Append(b)
	}
	text := new(big.Int).Abs(w.Units).String()
	for len(text) <= int(w.Scale) {
		text = "0" + text
	}
	if w.Units.Sign() < 0 {
		b = append(b, '-')
	}
	whole := len(text) - int(w.Scale)
	b = append(b, text[:whole]...)
	if w.Scale == 0 {
		return b
	}
	return append(append(b, '.'), text[whole:]...)
}
