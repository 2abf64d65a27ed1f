package codectest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
)

// maker builds random values of the protocol's types from a seed. Texts contain characters that
// JSON must escape. Ids and paths obey the rules unless wild is set.
type maker struct {
	*rand.Rand
	v    *Version
	wild bool // break the rules of the prose every now and then
}

func newMaker(v *Version, seed uint64) *maker {
	return &maker{Rand: rand.New(rand.NewPCG(seed, 1)), v: v}
}

// Random returns a random value of the type of a case, as a pointer.
func (v *Version) Random(c Case, seed uint64) any {
	return newMaker(v, seed).value(c.Type()).Interface()
}

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
	switch v.Type().Name() {
	case "RequestID":
		v.Set(reflect.ValueOf(m.v.NewID(m.Int64()-m.Int64(), m.text())))
		return
	case "SessionConfigSelectOptions":
		m.fill(v.FieldByName([]string{"Ungrouped", "Grouped"}[m.IntN(2)]), "")
		return
	case "MessageMCPResponse":
		result, failure := v.FieldByName("Result"), v.FieldByName("Error")
		if result.SetBytes(m.raw()); m.IntN(2) == 0 {
			result.SetZero()
			failure.Set(m.value(failure.Type().Elem()))
		}
		return
	case "Meta":
		if m.IntN(4) == 0 {
			meta := map[string]any{"example.com/trace": m.text(), "n": 1.5, "deep": map[string]any{"list": []any{nil, true, "x"}}}
			v.Set(reflect.ValueOf(meta).Convert(v.Type()))
		}
		return
	}
	switch x := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*x = m.raw()
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
	if constants := m.constantsOf(t); constants != nil && m.IntN(4) > 0 {
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
	case strings.Contains(rule, "id"), strings.Contains(rule, "min=1"), t.Name() == "ElicitationSchemaType":
		return "i" + m.text()
	}
	return m.text()
}

func (m *maker) constantsOf(t reflect.Type) []string {
	for name, values := range m.v.Values {
		if reflect.TypeOf(m.v.Plain[name]).Elem() == t {
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
	variants := m.v.Variants[v.Type()]
	if variants == nil {
		variants = m.v.HandWritten[v.Type()]
	}
	if len(variants) == 0 {
		panic("no variants of " + v.Type().String())
	}
	p := reflect.New(reflect.TypeOf(variants[m.IntN(len(variants))]).Elem())
	if v.Type().Name() == "ElicitationContentValue" { // its variants are no pointers
		if m.fill(p.Elem(), ""); p.Elem().Kind() == reflect.Slice && p.Elem().IsNil() {
			p.Elem().Set(reflect.MakeSlice(p.Elem().Type(), 0, 0))
		}
		v.Set(p.Elem())
		return
	}
	if raw := p.Elem().FieldByName("Raw"); raw.IsValid() {
		m.fillUnknown(v.Type(), p.Elem())
	} else {
		m.fill(p.Elem(), "")
	}
	v.Set(p)
}

// fillUnknown makes an unknown variant.
func (m *maker) fillUnknown(union reflect.Type, v reflect.Value) {
	members := `"q":1,"text ":"x"` + m.v.Needed[union.Name()]
	if kind := v.FieldByName("Type"); kind.IsValid() {
		tag := m.v.Tags[union.Name()]
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
