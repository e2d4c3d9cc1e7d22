package condition

// Truth is a value of Kleene's three-valued logic. False is the least and True the greatest: AND is the minimum, OR
// the maximum.
type Truth uint8

// The truth values. A comparison with null is Unknown.
const (
	False Truth = iota
	Unknown
	True
)

// String returns the value's name.
func (t Truth) String() string { return [...]string{"FALSE", "UNKNOWN", "TRUE"}[min(t, True)] }

// Of returns True or False.
func Of(b bool) Truth {
	if b {
		return True
	}
	return False
}

// Not returns the negation; that of Unknown is Unknown.
func (t Truth) Not() Truth { return True - min(t, True) }

// And returns the conjunction.
func (t Truth) And(u Truth) Truth { return min(t, u) }

// Or returns the disjunction.
func (t Truth) Or(u Truth) Truth { return max(t, u) }

// Xor returns the exclusive disjunction: Unknown where either is.
func (t Truth) Xor(u Truth) Truth {
	if t == Unknown || u == Unknown {
		return Unknown
	}
	return Of(t != u)
}

// outcomes is a set of truth values: those that an expression may take, or more.
type outcomes uint8

const anyOutcome outcomes = 1<<False | 1<<Unknown | 1<<True

func only(t Truth) outcomes { return 1 << t }

func (o outcomes) has(t Truth) bool { return o>>t&1 != 0 }

// each returns the outcomes of an operation over two sets, whatever depends on what.
func each(a, b outcomes, f func(Truth, Truth) Truth) (o outcomes) {
	for t := False; t <= True; t++ {
		for u := False; u <= True; u++ {
			if a.has(t) && b.has(u) {
				o |= only(f(t, u))
			}
		}
	}
	return o
}

func (o outcomes) not() (n outcomes) {
	for t := False; t <= True; t++ {
		if o.has(t) {
			n |= only(t.Not())
		}
	}
	return n
}
