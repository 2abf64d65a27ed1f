package main

import (
	"fmt"
	"slices"
	"strings"
)

// endFiles returns the files of an end by name.
func (v *vocabulary) endFiles(side, peer string) map[string]*file {
	calls, rows := &file{}, &file{}
	v.emitCalls(calls, peer)
	v.emitDescriptors(rows, side, peer)
	v.emitRows(rows, side, "Conn", func(r methodRow) bool { return r.handleHook })
	v.emitAdvertised(rows, side)
	emitInvalid(rows)
	return map[string]*file{"calls_gen.go": calls, "rows_gen.go": rows}
}

// libraryFiles returns the files of an end on a connection of jsonrpc2.
func (v *vocabulary) libraryFiles(side, peer string) map[string]*file {
	calls, rows := &file{}, &file{}
	end := strings.ToLower(peer)
	f := calls
	f.p("// remote is the %s at the other end, in every role.", end)
	f.p("type remote struct {")
	f.p("libconn.Peer")
	f.p("out endpoint.Sender")
	f.p("}\n")
	f.p("var (")
	for _, r := range v.roles(peer) {
		f.p("_ acp.%s = (*remote)(nil)", r.Name)
	}
	f.p(")\n")
	for _, m := range v.handledBy(peer) {
		f.p("func (c *remote) %s(ctx context.Context, params *acp.%s) %s {", m.Row.name, m.Params.Name, m.results("acp."))
		switch {
		case m.Row.callHook && (m.Row.name == "Initialize" || m.Row.name == "Prompt"):
			f.p("return c.%s(ctx, params)", lower(m.Row.name))
		case m.Notification:
			f.p("return %s.Notify(ctx, &c.out, params)", m.descriptor())
		default:
			f.p("return %s.Call(ctx, &c.out, params, nil)", m.descriptor())
		}
		f.p("}\n")
	}
	v.emitDescriptors(rows, side, peer)
	v.emitRows(rows, side, "end", func(r methodRow) bool {
		return r.handleHook && (r.name == "Initialize" || r.name == "CreateElicitation")
	})
	v.emitAdvertised(rows, side)
	emitInvalid(rows)
	return map[string]*file{"remote_gen.go": calls, "rows_gen.go": rows}
}

// emitFull writes a type that has every method of one side.
func (v *vocabulary) emitFull(f *file, side string) {
	f.p("// Full%s has every method of the %s, extensions included. All of them call Do.", side, strings.ToLower(side))
	f.p("type Full%s struct{ Do Do }\n", side)
	for _, m := range v.handledBy(side) {
		f.p("func (x *Full%s) %s(ctx context.Context, params *acp.%s) %s {", side, m.Row.name, m.Params.Name, m.results("acp."))
		if m.Notification {
			f.p("return note(ctx, x.Do, acp.%s, params)", m.Const)
		} else {
			f.p("return result[acp.%s](ctx, x.Do, acp.%s, params)", m.Result.Name, m.Const)
		}
		f.p("}\n")
	}
	f.p("func (x *Full%s) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {", side)
	f.p("return extension(ctx, x.Do, method, params)")
	f.p("}\n")
	f.p("func (x *Full%s) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {", side)
	f.p("return note(ctx, x.Do, method, params)")
	f.p("}\n")
}

// emitCalls writes a method of Conn for each method of the peer.
func (v *vocabulary) emitCalls(f *file, peer string) {
	f.p("// A Conn has every role of the %s at the other end.", strings.ToLower(peer))
	f.p("var (")
	for _, r := range v.roles(peer) {
		f.p("_ acp.%s = (*Conn)(nil)", r.Name)
	}
	f.p("_ acp.ExtensionHandler = (*Conn)(nil)")
	f.p("_ acp.ExtensionNotificationHandler = (*Conn)(nil)")
	f.p(")\n")
	for _, m := range v.handledBy(peer) {
		f.WriteString(comment("", v.callDoc(m)))
		params := "req"
		if m.Notification {
			params = "n"
		}
		f.p("func (c *Conn) %s(ctx context.Context, %s *acp.%s) %s {", m.Row.name, params, m.Params.Name, m.results("acp."))
		switch {
		case m.Row.callHook:
			f.p("return c.%s(ctx, %s)", lower(m.Row.name), params)
		case m.Notification:
			f.p("return %s.Notify(ctx, &c.out, %s)", m.descriptor(), params)
		default:
			f.p("return %s.Call(ctx, &c.out, %s, nil)", m.descriptor(), params)
		}
		f.p("}\n")
	}
	f.p("// byName holds the calls under the names of their methods.")
	f.p("var byName = endpoint.ByName[*Conn]{")
	f.p("Peer: %q,", strings.ToLower(peer))
	f.p("Version: acp.ProtocolVersion,")
	f.p("Invalid: invalid,")
	for _, kind := range []struct {
		field, result string
		notification  bool
	}{{"Requests", "params, result any", false}, {"Notifications", "params any", true}} {
		f.p("%s: map[string]func(c *Conn, ctx context.Context, %s) error{", kind.field, kind.result)
		for _, m := range v.handledBy(peer) {
			if m.Notification == kind.notification {
				f.p("acp.%s: endpoint.%sByName(%s, (*Conn).%s),", m.Const, m.kind(), m.descriptor(), m.Row.name)
			}
		}
		f.p("},")
	}
	f.p("}")
}

// callDoc joins the text with what the row says.
func (v *vocabulary) callDoc(m *method) string {
	var notes []string
	if m.Unstable {
		notes = append(notes, "Unstable: see Options.Unstable.")
	}
	notes = append(notes, "Protocol: "+m.Name+".")
	text := v.texts.need("call " + m.Row.key)
	if m.Row.capability != "" && !strings.Contains(text, "Capability:") {
		bits := []string{m.Row.capability}
		if len(m.Row.bits) > 0 {
			bits = m.Row.bits
		}
		notes = append(notes, "Capability: "+strings.Join(bits, " or ")+".")
	}
	return m.Row.name + " " + text + "\n\n" + strings.Join(notes, " ")
}

// kind returns the name of the kind of method in package endpoint.
func (m *method) kind() string {
	if m.Notification {
		return "Notification"
	}
	return "Request"
}

// descriptor returns the name of the variable with the method's row and types.
func (m *method) descriptor() string { return "method" + m.Row.name }

// emitDescriptors writes the methods with their types.
func (v *vocabulary) emitDescriptors(f *file, side, peer string) {
	for _, kind := range []struct{ doc, side string }{
		{"The methods that this end handles.", side}, {"The methods that this end calls.", peer},
	} {
		f.p("// %s", kind.doc)
		f.p("var (")
		for _, m := range v.handledBy(kind.side) {
			if m.Notification {
				f.p("%s = endpoint.NotificationOf[acp.%s](acp.ProtocolVersion, acp.%s)", m.descriptor(), m.Params.Name, m.Const)
			} else {
				f.p("%s = endpoint.RequestOf[acp.%s, acp.%s](acp.ProtocolVersion, acp.%s)",
					m.descriptor(), m.Params.Name, m.Result.Name, m.Const)
			}
		}
		f.p(")\n")
	}
}

// emitRows writes the table of what this end handles, as a method of recv. hooked reports whether
// recv handles a method itself.
func (v *vocabulary) emitRows(f *file, side, recv string, hooked func(methodRow) bool) {
	end := strings.ToLower(side)
	f.p("// addRows fills t with the methods that %s serves. What it does not serve has no row and", end)
	f.p("// fails with -32601.")
	f.p("func (c *%s) addRows(t *endpoint.Table) {", recv)
	f.p("v := c.%s", end)
	f.p("if s, ok := v.(acp.Selective); ok%s {", map[string]string{"Conn": " && !c.remote"}[recv])
	f.p("t.Handles = s.Handles")
	f.p("}")
	for _, r := range v.roles(side) {
		optional := r.Name != side
		if optional {
			serves := fmt.Sprintf("t.Serves(%q, %s)", "acp."+r.Name, strings.Join(r.constants("acp."), ", "))
			if r.Unstable {
				serves += fmt.Sprintf(" && t.Allows(%q)", "acp."+r.Name)
			}
			f.p("if h, ok := v.(acp.%s); ok && %s {", r.Name, serves)
		}
		for _, m := range r.Methods {
			handler := "v." + m.Row.name
			if optional {
				handler = "h." + m.Row.name
			}
			if hooked(m.Row) {
				handler = "c." + lower(m.Row.name)
				if optional {
					handler += "(h)"
				}
			}
			flags := ""
			if m.Row.turn {
				flags += ".Group = true"
			}
			if m.Row.endsTurn && m.Notification {
				flags += ".Ends = rpc.EndsForeground"
			} else if m.Row.endsTurn {
				flags += ".Ends = rpc.EndsAll"
			}
			f.p("%s.Handle(t, %s)%s", m.descriptor(), handler, flags)
		}
		if optional {
			f.p("}")
		}
	}
	f.p("}\n")
}

// emitAdvertised writes what the rows of an end advertise, and what promises a method.
func (v *vocabulary) emitAdvertised(f *file, side string) {
	end := strings.ToLower(side)
	caps := v.byName[side+"Capabilities"]
	f.p("// advertise adds the capabilities that follow from the rows of t to caps.")
	f.p("func advertise(caps *acp.%s, t *endpoint.Table) {", caps.Name)
	roles := v.roles(side)
	for _, r := range roles {
		row := r.Methods[0].Row
		if row.implies() == "" || r.Name == side {
			continue
		}
		// The methods of an interface have rows together or not at all.
		has := fmt.Sprintf("t.Entry(%s.Method) != nil", r.Methods[0].descriptor())
		if row.with != "" {
			i := slices.IndexFunc(roles, func(r *role) bool { return r.Name == row.with })
			has += fmt.Sprintf(" && t.Entry(%s.Method) != nil", roles[i].Methods[0].descriptor())
		}
		f.p("if %s {", has)
		f.p("%s", v.setBit(caps, row.implies()))
		f.p("}")
	}
	f.p("}\n")
	f.p("// promises lists the capabilities that promise a method of the %s.", end)
	f.p("var promises = []endpoint.Promise{")
	seen := map[string]bool{}
	for _, m := range v.handledBy(side) {
		for _, bit := range m.Row.promises() {
			if !seen[bit] {
				seen[bit] = true
				f.p("{Capability: %q, Method: acp.%s, Role: %q},", bit, m.Const, "acp."+m.Row.role)
			}
		}
	}
	f.p("}")
}

// setBit returns the statement that sets the capability at path in caps.
func (v *vocabulary) setBit(caps *goType, path string) string {
	at := "caps"
	x := caps
	for name := range strings.SplitSeq(path, ".") {
		j := slices.IndexFunc(x.members().Fields, func(f *field) bool { return f.JSON == name && f.isBit() })
		failIf(j < 0, "%s has no capability %s", caps.Name, path)
		b := x.members().Fields[j]
		at = fmt.Sprintf("%s.%s", at, b.Name)
		if b.Base.Kind == isBool {
			return at + " = true"
		}
		x, at = b.Base.Type, "endpoint.Present(&"+at+")"
	}
	return at
}

// emitInvalid writes the error for values that break the schema.
func emitInvalid(f *file) {
	f.p("// invalid builds the error for a value that breaks the schema; where is like")
	f.p("// \"session/new params\".")
	f.p("func invalid(where string, fields *wire.FieldErrors) error {")
	f.p("e := &acp.InvalidError{Where: where}")
	f.p("endpoint.EachField(fields, func(path, message string) {")
	f.p("e.Fields = append(e.Fields, acp.FieldError{Path: path, Message: message})")
	f.p("})")
	f.p("return e")
	f.p("}")
}
