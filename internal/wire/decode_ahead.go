package wire

import "unicode/utf8"

// Tag returns the string value of a member of the next object, without consuming the object. found
// is false if there is no such member, or no object. If the member is not a string, tag is nil and
// found is true.
func (d *Decoder) Tag(name string) (tag []byte, found bool) {
	if tag = d.firstTag(name); tag != nil {
		return tag, true
	}
	start := d.Mark()
	if d.peek() != '{' {
		return nil, false
	}
	for o := d.Object(); o.Next(d); {
		if string(o.Name) != name {
			d.Skip()
			continue
		}
		found = true
		if d.peek() == '"' {
			if tag = d.unquote(); tag == nil {
				tag = []byte{}
			}
		}
		break
	}
	d.Return(start)
	return tag, found
}

// firstTag is Tag for an object that begins with the member and has no white space, as most
// programs write it.
func (d *Decoder) firstTag(name string) []byte {
	b := d.b[d.i:]
	n := len(name)
	if len(b) < n+6 || b[0] != '{' || b[1] != '"' || string(b[2:2+n]) != name || string(b[2+n:5+n]) != `":"` {
		return nil
	}
	b = b[5+n:]
	for i, c := range b {
		switch {
		case c == '"':
			return b[:i:i]
		case c == '\\' || c < 0x20 || c >= utf8.RuneSelf:
			return nil
		}
	}
	return nil
}

// Has reports whether the next object has the member. It consumes nothing.
func (d *Decoder) Has(name string) bool {
	_, found := d.Tag(name)
	return found
}

// HasString reports whether the next object has the member and the member is a string. It consumes
// nothing.
func (d *Decoder) HasString(name string) bool {
	tag, _ := d.Tag(name)
	return tag != nil
}

// Needs consumes a value of a union that lacks one of the members, and returns the violation. It
// does not consume a value that has all of them.
func (d *Decoder) Needs(names ...string) *FieldErrors {
	var errs *FieldErrors
	for _, name := range names {
		if d.Has(name) {
			continue
		}
		if errs == nil {
			errs = &FieldErrors{}
		}
		errs.Add([]string{name}, "missing")
	}
	if errs != nil {
		d.Skip()
	}
	return errs
}

// Untagged consumes a value of a union that names no variant, and returns the violation.
func (d *Decoder) Untagged(member string, found bool) *FieldErrors {
	if d.peek() != '{' {
		return d.Mismatch("object")
	}
	d.Skip()
	errs := &FieldErrors{}
	if found {
		errs.Add([]string{member}, "expected string")
	} else {
		errs.Add([]string{member}, "missing")
	}
	return errs
}

// Without copies the next object, without the named members.
func (d *Decoder) Without(p *[]byte, names ...string) *FieldErrors {
	o := d.Object()
	out := []byte{'{'}
members:
	for o.Next(d) {
		start := d.Mark()
		d.Skip()
		for _, name := range names {
			if string(o.Name) == name {
				continue members
			}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = AppendString(out, string(o.Name))
		out = append(out, ':')
		out = append(out, d.b[start:d.i]...)
	}
	if o.errs == nil {
		*p = append(out, '}')
	}
	return o.errs
}
