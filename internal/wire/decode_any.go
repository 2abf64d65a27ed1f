package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Map reads an object as encoding/json would, for members that the protocol does
// not look into. Numbers are float64; an integer that a float64 would change, and
// a number beyond its range, is a json.Number instead.
func (d *Decoder) Map(p *map[string]any) *FieldErrors {
	if d.peek() != '{' {
		return d.Mismatch("object")
	}
	*p = d.object(MaxDepth)
	return nil
}

func (d *Decoder) object(depth int) map[string]any {
	m := map[string]any{}
	o := d.Object()
	for o.Next(d) {
		name := d.text.take(o.Name, len(d.b))
		m[name] = d.value(depth - 1)
	}
	return m
}

func (d *Decoder) value(depth int) any {
	c := d.peek()
	if depth <= 0 {
		d.Skip()
		return nil
	}
	switch c {
	case '"':
		return d.readString()
	case '{':
		return d.object(depth)
	case '[':
		list := []any{}
		for a := d.Array(); a.Next(d); {
			list = append(list, d.value(depth-1))
		}
		return list
	case 't', 'f':
		d.Skip()
		return c == 't'
	case 'n':
		d.Skip()
		return nil
	}
	text, errs := d.number()
	if errs != nil {
		return nil
	}
	return numberValue(text)
}

func numberValue(text []byte) any {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return json.Number(text)
	}
	if math.Abs(f) >= 1<<53 && !bytes.ContainsAny(text, ".eE") {
		if neg, v, ok := integer(text); !ok || !sameInteger(f, neg, v) {
			return json.Number(text)
		}
	}
	return f
}

func sameInteger(f float64, neg bool, v uint64) bool {
	if neg {
		f = -f
	}
	return f < 1<<64 && uint64(f) == v
}
