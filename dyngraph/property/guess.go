package property

// Guess finds a type that all values have that were added to it. The zero Guess has none. A number counts as it is
// written: 12.50 has two decimals.
type Guess struct {
	numbers, bools, texts, others int
	numerals                      int  // texts of JSON that read as numbers
	typed                         int  // numbers and bools of JSON: no string may be declared for them
	scale                         int  // the most decimals
	whole                         int  // the most digits before the point
	wide                          bool // some whole number is no int64
	lost                          bool // some number is beyond float64
}

// AddJSON notes a JSON value. A string stays a string, except beside numbers: it may be a long one.
func (g *Guess) AddJSON(raw []byte) {
	switch text := string(raw); {
	case text == "null" || text == "":
	case text == "true" || text == "false":
		g.bools++
		g.typed++
	case text[0] == '"':
		s, err := unquote(text)
		if err != nil {
			g.others++
			return
		}
		g.texts++
		if n, err := scanNumber(s); err == nil {
			g.numerals++
			g.number(n, s)
		}
	default:
		n, err := scanNumber(text)
		if err != nil { // an object or an array
			g.others++
			return
		}
		g.numbers++
		g.typed++
		g.number(n, text)
	}
}

// AddText notes a cell of CSV: a value that is known by its text alone. An empty one is null.
func (g *Guess) AddText(text string) {
	switch n, err := scanNumber(text); {
	case text == "":
	case err == nil:
		g.numbers++
		g.number(n, text)
	case text == "true" || text == "false":
		g.bools++
	default:
		g.texts++
	}
}

func (g *Guess) number(n number, text string) {
	g.scale = max(g.scale, n.decimals)
	g.whole = max(g.whole, len(n.digits)+n.exp)
	if _, err := n.units(0); err != nil && n.decimals <= 0 {
		g.wide = true
	}
	if _, err := nearest(text); err != nil {
		g.lost = true
	}
}

// Merge notes all that another Guess has seen.
func (g *Guess) Merge(o *Guess) {
	g.numbers, g.bools, g.texts = g.numbers+o.numbers, g.bools+o.bools, g.texts+o.texts
	g.numerals, g.others, g.typed = g.numerals+o.numerals, g.others+o.others, g.typed+o.typed
	g.scale, g.whole = max(g.scale, o.scale), max(g.whole, o.whole)
	g.wide, g.lost = g.wide || o.wide, g.lost || o.lost
}

// Type returns the narrowest type that all values have, of int64, decimal, float64, bool and string. Cells that have no
// narrower one are strings. Without a type, why tells the reason, "" if there was no value.
func (g *Guess) Type() (t Type, why string) {
	switch all := g.numbers + g.bools + g.texts + g.others; {
	case all == 0:
		return Type{}, ""
	case g.others > 0:
		return Type{}, "some values are arrays or objects"
	case g.bools == all:
		return Type{Kind: Bool}, ""
	case g.texts == all:
		return Type{Kind: String}, ""
	case g.numbers+g.numerals == all && !g.lost:
		return g.numeric(), ""
	case g.typed == 0:
		return Type{Kind: String}, ""
	case g.lost:
		return Type{}, "some numbers are beyond float64"
	}
	return Type{}, "the values are of several types"
}

// numeric returns the type of numbers.
func (g *Guess) numeric() Type {
	switch {
	case g.scale <= 0 && !g.wide:
		return Type{Kind: Int64}
	case g.scale > 0 && g.whole+g.scale <= MaxScale:
		return Type{Kind: Decimal, Scale: uint8(g.scale)}
	}
	return Type{Kind: Float64}
}
