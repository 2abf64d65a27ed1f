package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Map reads an object as encoding/json would, for members that the protocol does
// not look into. Numbers are float64; an integer that a float64 would change, and
// a number beyond its range, is a json.Number instead. In a long object that would
// grow many times over, the objects and lists stay raw.
func (d *Decoder) Map(p *map[string]any) *FieldErrors {
	if d.peek() != '{' {
		return d.Mismatch("object")
	}
	depth := MaxDepth
	if d.swells() {
		depth = shallow
	}
	*p = d.object(depth)
	return nil
}

const (
	// Objects up to shortMap bytes are read as deep as they are.
	shortMap = 32 << 10
	// So are longer ones that take up to swelling times their bytes.
	swelling = 16
	// shallow is the depth at which objects and lists stay raw: that of the members of
	// those that are longer and swell.
	shallow = 2
)

// swells tells whether the next value is long and would take much more memory than
// bytes on the wire. Only a hostile peer writes so: {"":0} takes fifty times its
// bytes.
func (d *Decoder) swells() bool {
	if len(d.b)-d.i <= shortMap {
		return false
	}
	start := d.i
	d.Skip()
	raw := d.b[start:d.i]
	d.i = start
	if len(raw) <= shortMap {
		return false
	}
	// Those within texts count as well. Where there are so many of them it does
	// not matter.
	size := 350*bytes.Count(raw, []byte{'{'}) + 64*bytes.Count(raw, []byte{'['}) + 24*bytes.Count(raw, []byte{','})
	return size > swelling*len(raw)
}

func (d *Decoder) object(depth int) map[string]any {
	m := map[string]any{}
	o := d.Object()
	for o.Next(d) {
		name := d.text.take(o.Name, len(d.b))
		if c := d.peek(); depth == shallow && (c == '{' || c == '[') {
			var raw []byte
			_ = d.Raw(&raw)
			m[name] = json.RawMessage(raw)
			continue
		}
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
