package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// Map reads an object like encoding/json, for members whose content the protocol does not define.
// Numbers are float64. An integer that a float64 cannot represent, or a number beyond its range, is
// a json.Number.
//
// The whole object is decoded if the budget of the message allows it. Otherwise each member that is
// an object or an array is decoded if the budget allows it, and is a json.RawMessage if not.
func (d *Decoder) Map(p *map[string]any) *FieldErrors {
	if d.peek() != '{' {
		return d.Mismatch("object")
	}
	start, held := d.i, d.held
	if !d.large {
		d.limit = min(held+trial, memoryFree+memoryFactor*start)
		if *p = d.object(envelope.MaxDepth); d.held <= d.limit {
			return nil
		}
		*p = nil // allow the garbage collector to free it
		d.i, d.held, d.limit, d.large = start, held, math.MaxInt, true
	}
	d.counts, d.counted = d.counts[:0], 0
	cost := d.measure(envelope.MaxDepth)
	end := d.i
	d.i = start
	d.measured = true
	if d.affords(cost, end) {
		*p = d.object(envelope.MaxDepth)
	} else {
		*p = d.partialObject()
	}
	if d.measured = false; cap(d.counts) > countsKept {
		d.counts = nil
	}
	return nil
}

// trial is how much memory an object may take to be decoded without measuring. After a larger
// one, all others of the message are measured first: what was decoded of it is garbage.
const trial = 8 << 10

// countsKept is how many counts the next object has room for without an allocation.
const countsKept = 4 << 10

// measure consumes a value and returns the memory of its decoded form. It appends the number of
// members or elements of each object and array to d.counts, in the order in which they begin.
func (d *Decoder) measure(depth int) (cost int) {
	c := d.peek()
	start := d.i
	if depth <= 0 || c != '{' && c != '[' {
		d.Skip()
		switch {
		case depth <= 0, c == 't', c == 'f', c == 'n':
			return 0
		case c == '"':
			return stringHeader + textSize(d.i-start-2)
		}
		return numberSize(d.b[start:d.i])
	}
	n := len(d.counts)
	d.counts = append(d.counts, 0)
	elements := 0
	if c == '[' {
		for a := d.Array(); a.Next(d); elements++ {
			cost += d.measure(depth - 1)
		}
		cost += sliceHeader + allocated(elements*stringHeader)
	} else {
		for o := d.Object(); o.Next(d); elements++ {
			cost += textSize(len(o.Name)) + d.measure(depth-1)
		}
		cost += mapSize(elements, anySlot)
	}
	d.counts[n] = int32(min(elements, math.MaxInt32))
	return cost
}

// anySlot is the size of a member of a map[string]any.
const anySlot = 2 * stringHeader

// textSize returns the memory of a text of n bytes. Short texts share blocks.
func textSize(n int) int {
	if n <= shortString {
		return n + n/4
	}
	return allocated(n)
}

func numberSize(text []byte) int {
	if len(text) > 15 { // the number may become a json.Number
		return stringHeader + allocated(len(text))
	}
	return 8
}

// count returns the next count from measure. It returns -1 if nothing was measured.
func (d *Decoder) count() int {
	if !d.measured {
		return -1
	}
	d.counted++
	return int(d.counts[d.counted-1])
}

// object reads an object. It stops when the message holds more than d.limit.
func (d *Decoder) object(depth int) map[string]any {
	n := d.count()
	m := make(map[string]any, max(n, 0))
	d.held += mapSize(max(n, 0), anySlot)
	for o := d.Object(); o.Next(d) && d.held <= d.limit; {
		name := d.text.take(d, o.Name)
		m[name] = d.value(depth - 1)
		if n < 0 {
			d.held += mapSize(len(m), anySlot) - mapSize(len(m)-1, anySlot)
		}
	}
	return m
}

// partialObject reads an object that was measured and is too large. Members that are objects or
// arrays stay raw if the budget does not allow them.
func (d *Decoder) partialObject() map[string]any {
	m := map[string]any{}
	d.held += mapSize(int(d.counts[0]), anySlot)
	for o := d.Object(); o.Next(d); {
		name := d.text.take(d, o.Name)
		if c := d.peek(); c == '{' || c == '[' {
			d.counts, d.counted = d.counts[:0], 0
			start := d.i
			cost := d.measure(envelope.MaxDepth - 1)
			if !d.affords(cost, d.i) {
				m[name] = json.RawMessage(bytes.Clone(d.b[start:d.i]))
				d.held += sliceHeader + allocated(d.i-start)
				continue
			}
			d.i = start
		}
		m[name] = d.value(envelope.MaxDepth - 1)
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
		d.held += stringHeader
		return d.readString()
	case '{':
		return d.object(depth)
	case '[':
		return d.list(depth)
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
	d.held += numberSize(text)
	return numberValue(text)
}

// list reads an array. It stops when the message holds more than d.limit.
func (d *Decoder) list(depth int) []any {
	n := d.count()
	list := make([]any, 0, max(n, 0))
	d.held += sliceHeader
	if n >= 0 {
		d.Hold(n * stringHeader)
	}
	for a := d.Array(); a.Next(d) && d.held <= d.limit; {
		before := cap(list)
		list = append(list, d.value(depth-1))
		d.held += (cap(list) - before) * stringHeader
	}
	return list
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
