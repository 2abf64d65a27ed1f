package wire

// Tag returns the string value of a member of the next object, without consuming the object. found
// is false if there is no such member, or no object. If the member is not a string, tag is nil and
// found is true.
func (d *Decoder) Tag(name string) (tag []byte, found bool) {
	// Most programs write the member first, without white space.
	if b, n := d.b[d.i:], len(name); len(b) > n+5 && string(b[:2]) == `{"` && string(b[2:2+n]) == name && string(b[2+n:5+n]) == `":"` {
		start := d.i
		d.i += n + 4
		tag, plain := d.segment()
		d.i = start
		if plain {
			return tag, true
		}
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
