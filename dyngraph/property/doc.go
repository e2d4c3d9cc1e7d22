// Package property holds the declared properties of edges and vertices: their types, their values, and what conditions
// do with values (DESIGN S13, S17).
//
//	idea    a value has one of six types and is exact: int64, decimal(s), float64, bool, string, timestamp, or null
//	in      the JSON or CSV text of a value, with its declared type
//	out     a Value; the order of two values; their sum, difference and product
//	owner   Schema is made by the configuration and immutable; Value is plain data, copied, and shares its text
//	source  exact comparison of integers with floats: by the float's mantissa and exponent in 128 bits, never by
//	        conversion
//
// Nothing here allocates but the conversions from text and the errors. NaN and the infinities have no Value.
package property
