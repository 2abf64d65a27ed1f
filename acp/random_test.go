// Copied to acp/v2 by go generate.

package acp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// maker builds random values of the protocol's types from a seed. Texts contain characters that
// JSON must escape. Ids and paths obey the rules unless wild is set.
type maker struct {
	*rand.Rand
	wild bool // break the rules of the prose every now and then
}

func newMaker(seed uint64) *maker { return &maker{Rand: rand.New(rand.NewPCG(seed, 1))} }

var fragments = []string{
	"", "a", "word ", "\n", "\t", `"`, `\`, "/", "é", "\u2028", "\U0001f600", "\x00", "\x7f", "<b>&", "null",
	strings.Repeat("0123456789abcde\n", 20), strings.Repeat("long text ", 150),
}

func (m *maker) text() string {
	var s strings.Builder
	for range m.IntN(4) {
		s.WriteString(fragments[m.IntN(len(fragments))])
	}
	return s.String()
}

// value returns a random value as a pointer to t.
func (m *maker) value(t reflect.Type) reflect.Value {
	p := reflect.New(t)
	m.fill(p.Elem(), "")
	return p
}

func (m *maker) fill(v reflect.Value, rule string) {
	switch x := v.Addr().Interface().(type) {
	case *acp.RequestID:
		ids := append([]acp.RequestID{acp.NumberID(m.Int64() - m.Int64()), acp.StringID(m.text())}, otherIDs...)
		*x = ids[m.IntN(len(ids))]
		return
	case *acp.SessionConfigSelectOptions:
		if m.IntN(2) == 0 {
			m.fill(reflect.ValueOf(&x.Ungrouped).Elem(), "")
		} else {
			m.fill(reflect.ValueOf(&x.Grouped).Elem(), "")
		}
		return
	case *acp.MessageMCPResponse:
		if x.Result = m.raw(); m.IntN(2) == 0 {
			x.Result, x.Error = nil, m.value(reflect.TypeFor[acp.MCPError]()).Interface().(*acp.MCPError)
		}
		return
	case *json.RawMessage:
		*x = m.raw()
		return
	case *acp.Meta:
		if m.IntN(4) == 0 {
			*x = acp.Meta{"example.com/trace": m.text(), "n": 1.5, "deep": map[string]any{"list": []any{nil, true, "x"}}}
		}
		return
	case interface{ IsNull() bool }: // an Opt
		switch m.IntN(3) {
		case 0:
			_ = json.Unmarshal([]byte("null"), x)
		case 1:
			set := v.Addr().MethodByName("Set")
			value := reflect.New(set.Type().In(0)).Elem()
			m.fill(value, rule)
			set.Call([]reflect.Value{value})
		}
		return
	}
	m.fillKind(v, rule)
}

func (m *maker) fillKind(v reflect.Value, rule string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(m.ruled(v.Type(), rule))
	case reflect.Bool:
		v.SetBool(m.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(m.Int64() >> m.IntN(64))
		if v.Kind() == reflect.Int32 {
			v.SetInt(int64(int32(m.Uint32())))
		}
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(m.Uint64() >> m.IntN(64) & (1<<v.Type().Bits() - 1))
		if strings.Contains(rule, "min=1") && !m.breaks() {
			v.SetUint(max(v.Uint(), 1))
		}
	case reflect.Float64:
		v.SetFloat(m.NormFloat64() + 0.1)
		if strings.Contains(rule, "max=1") && !m.breaks() {
			v.SetFloat(m.Float64())
		}
	case reflect.Pointer:
		if m.IntN(2) == 0 {
			p := reflect.New(v.Type().Elem())
			m.fill(p.Elem(), rule)
			v.Set(p)
		}
	case reflect.Slice:
		list, items, _ := strings.Cut(rule, "dive")
		if !strings.Contains(rule, "dive") {
			items = ""
		}
		n := m.IntN(4)
		if n == 3 {
			n = -1
		}
		if strings.Contains(list, "min=1") && !m.breaks() {
			if n = max(n, 1); strings.Contains(list, "omitempty") && m.IntN(2) == 0 {
				n = -1
			}
		}
		if n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				m.fill(v.Index(i), items)
			}
		}
	case reflect.Map:
		if m.IntN(3) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for i := range m.IntN(3) {
				element := reflect.New(v.Type().Elem()).Elem()
				m.fill(element, "")
				v.SetMapIndex(reflect.ValueOf(fmt.Sprint("key", i, m.text())), element)
			}
		}
	case reflect.Interface:
		m.fillUnion(v)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if strings.HasPrefix(field.Name, "Extra") {
				continue
			}
			m.fill(v.Field(i), field.Tag.Get("acp"))
			if strings.HasPrefix(v.Type().Name(), "MessageMCP") && field.Name == "Params" {
				v.Field(i).SetBytes([]byte(`{"a":1}`))
			}
		}
	default:
		panic("no random " + v.Type().String())
	}
}

// breaks reports whether a rule is to be broken.
func (m *maker) breaks() bool { return m.wild && m.IntN(8) == 0 }

// ruled returns a text that obeys the rule of its struct tag, unless breaks decides otherwise.
func (m *maker) ruled(t reflect.Type, rule string) string {
	if constants := constantsOf(t); constants != nil && m.IntN(4) > 0 {
		return constants[m.IntN(len(constants))]
	}
	if m.breaks() {
		return []string{"", "relative/path", "x y", "C:", "mailto"}[m.IntN(5)]
	}
	switch {
	case strings.Contains(rule, "omitempty") && m.IntN(3) == 0:
		return ""
	case strings.Contains(rule, "abspath"):
		return []string{"/", "/home/me", `C:\x`, `\\host\share`}[m.IntN(4)] + m.text()
	case strings.Contains(rule, "uri"):
		return []string{"file:///x", "https://example.com/?a=b"}[m.IntN(2)]
	case strings.Contains(rule, "id"), strings.Contains(rule, "min=1"), t == reflect.TypeFor[acp.ElicitationSchemaType]():
		return "i" + m.text()
	}
	return m.text()
}

func constantsOf(t reflect.Type) []string {
	for name, values := range acp.Values {
		if reflect.TypeOf(acp.Plain[name]).Elem() == t {
			var list []string
			for _, value := range values {
				list = append(list, fmt.Sprint(value))
			}
			return list
		}
	}
	return nil
}

// fillUnion picks a variant.
func (m *maker) fillUnion(v reflect.Value) {
	variants := acp.Variants[v.Type()]
	switch v.Type() {
	case reflect.TypeFor[acp.ElicitationContentValue]():
		variants = []any{new(acp.ElicitationString), new(acp.ElicitationInteger), new(acp.ElicitationNumber), new(acp.ElicitationBoolean), new(acp.ElicitationStrings)}
		p := m.value(reflect.TypeOf(variants[m.IntN(5)]).Elem())
		if list, ok := reflect.TypeAssert[*acp.ElicitationStrings](p); ok && *list == nil {
			*list = acp.ElicitationStrings{}
		}
		v.Set(p.Elem())
		return
	}
	if variants == nil {
		variants = handWritten[v.Type()]
	}
	if len(variants) == 0 {
		panic("no variants of " + v.Type().String())
	}
	p := reflect.New(reflect.TypeOf(variants[m.IntN(len(variants))]).Elem())
	if raw := p.Elem().FieldByName("Raw"); raw.IsValid() {
		m.fillUnknown(v.Type(), p.Elem())
	} else {
		m.fill(p.Elem(), "")
	}
	v.Set(p)
}

// fillUnknown makes an unknown variant.
func (m *maker) fillUnknown(union reflect.Type, v reflect.Value) {
	members := `"q":1,"text ":"x"` + neededMembers[union.Name()]
	if kind := v.FieldByName("Type"); kind.IsValid() {
		tag := acp.Tags[union.Name()]
		if tag == "" {
			tag = "type"
		}
		kind.SetString("_x")
		members = fmt.Sprintf(`%q:"_x",%s`, tag, members)
	}
	v.FieldByName("Raw").SetBytes([]byte("{" + members + "}"))
}

func (m *maker) raw() json.RawMessage {
	return json.RawMessage([]string{`null`, `1e40`, `"\ud800"`, `{"b":[1,2.50,{}],"a":"x"}`, `[ ]`, `-0`}[m.IntN(6)])
}
