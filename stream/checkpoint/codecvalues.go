package checkpoint

import (
	"encoding/binary"
	"math"

	"motifd/dyngraph/property"
)

// The kinds of values as they are stored. The numbers never change.
const (
	valueNull byte = iota
	valueInt64
	valueDecimal
	valueFloat64
	valueFalse
	valueTrue
	valueString
	valueTimestamp
	valueLabels // of a vertex that may have several
)

// appendValues encodes values by column. The last one is not null.
func appendValues(b []byte, values []property.Value) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)))
	for _, v := range values {
		switch t := v.Type(); t.Kind {
		case property.Int64:
			b = binary.AppendVarint(append(b, valueInt64), v.Whole())
		case property.Decimal:
			b = binary.AppendVarint(append(b, valueDecimal, t.Scale), v.Whole())
		case property.Timestamp:
			b = binary.AppendVarint(append(b, valueTimestamp), v.Whole())
		case property.Float64:
			b = binary.LittleEndian.AppendUint64(append(b, valueFloat64), v.Bits())
		case property.String:
			b = appendString(append(b, valueString), v.Str())
		case property.Labels:
			b = appendString(append(b, valueLabels), v.String())
		case property.Bool:
			if v.True() {
				b = append(b, valueTrue)
			} else {
				b = append(b, valueFalse)
			}
		default:
			b = append(b, valueNull)
		}
	}
	return b
}

func (d *decoder) values() []property.Value {
	n := d.count(1)
	if n == 0 {
		d.fail()
		return nil
	}
	values := make([]property.Value, n)
	for i := range values {
		values[i] = d.value()
	}
	if d.bad || values[n-1].IsNull() {
		d.fail()
		return nil
	}
	return values
}

func (d *decoder) value() (v property.Value) {
	switch d.byte() {
	case valueNull:
	case valueInt64:
		return property.Int(d.varint())
	case valueDecimal:
		scale := d.byte()
		if scale > property.MaxScale {
			d.fail()
		}
		return property.Units(d.varint(), scale)
	case valueTimestamp:
		return property.Time(d.varint())
	case valueFloat64:
		bits := d.uint64()
		v, err := property.Float(math.Float64frombits(bits))
		if err != nil || v.Bits() != bits { // NaN, an infinity, or -0
			d.fail()
		}
		return v
	case valueString:
		return property.Text(d.string())
	case valueLabels:
		text := d.string()
		if v = property.LabelsOf(text); v.IsNull() || v.String() != text { // not in its one form
			d.fail()
		}
		return v
	case valueFalse:
		return property.Truth(false)
	case valueTrue:
		return property.Truth(true)
	default:
		d.fail()
	}
	return v
}
