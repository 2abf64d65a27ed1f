package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/tools"
)

type base struct {
	Path string `json:"path" description:"absolute path" validate:"required,max=4096"`
}

type sample struct {
	base
	Line   *uint32           `json:"line,omitempty" validate:"omitempty,min=1"`
	Modes  []string          `json:"modes,omitempty" validate:"max=3,dive,oneof=a b"`
	Size   int               `json:"size" validate:"gte=-1,lte=15"`
	Kind   string            `json:"kind" validate:"oneof='a b' c"`
	Number int               `json:"number" validate:"oneof=1 2"`
	Env    map[string]string `json:"env,omitempty"`
	Any    json.RawMessage   `json:"any,omitempty"`
	Rate   float64
	Deep   struct {
		OK bool `json:"ok"`
	} `json:"deep"`
	Left string `json:"-"`
}

func TestSchema(t *testing.T) {
	tool := tools.Typed("x", "", func(context.Context, *tools.Call, sample) (tools.Result, error) { return tools.Result{}, nil })
	assert.JSONEq(t, `{"type":"object","required":["path"],"properties":{
		"path":{"type":"string","description":"absolute path","maxLength":4096},
		"line":{"type":"integer","minimum":1},
		"modes":{"type":"array","maxItems":3,"items":{"type":"string"}},
		"size":{"type":"integer","minimum":-1,"maximum":15},
		"kind":{"type":"string","enum":["a b","c"]},
		"number":{"type":"integer","enum":[1,2]},
		"env":{"type":"object","additionalProperties":{"type":"string"}},
		"any":{},
		"Rate":{"type":"number"},
		"deep":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}`, string(tool.Schema))
}

// The tool decodes its input from the bytes that the person saw.
func TestTyped(t *testing.T) {
	var got sample
	tool := tools.Typed("x", "", func(_ context.Context, c *tools.Call, in sample) (tools.Result, error) {
		got = in
		return tools.Text(c.Tool()), nil
	})
	env := tools.Env{Session: &session{}, Gate: func(context.Context, *tools.Call) tools.Decision { return tools.Allow }}
	all, err := registry(t, tool).Run(t.Context(), env, []tools.Request{{Name: "x", Input: json.RawMessage(`{"path":"/a","line":2,"kind":"a b","number":1,"more":true}`)}})
	require.NoError(t, err)
	assert.Equal(t, "x", text(all[0]))
	assert.Equal(t, "/a", got.Path)
	assert.EqualValues(t, 2, *got.Line)
}

// point is a type with a decoder of its own, and word one that decodes from a text.
type (
	point struct{ X, Y int }
	word  string
)

func (p *point) UnmarshalJSON(data []byte) error {
	var xy [2]int
	if err := json.Unmarshal(data, &xy); err != nil {
		return errors.New("secret of the program")
	}
	*p = point{xy[0], xy[1]}
	return nil
}

func (w *word) UnmarshalText(text []byte) error {
	if strings.Contains(string(text), " ") {
		return errors.New("secret of the program")
	}
	*w = word(text)
	return nil
}

type kinds struct {
	N    int             `json:"n" validate:"required"`
	S    string          `json:"s" validate:"required"`
	B    *bool           `json:"b"`
	F    float32         `json:"f"`
	I8   int8            `json:"i8"`
	U    uint64          `json:"u"`
	L    []string        `json:"l"`
	O    []base          `json:"o" validate:"dive"`
	Two  [2]int          `json:"two"`
	At   time.Time       `json:"at"`
	Raw  []byte          `json:"raw"`
	Num  json.Number     `json:"num"`
	P    *point          `json:"p"`
	W    word            `json:"w"`
	Text int             `json:"text,string"`
	Any  json.RawMessage `json:"any"`
	M    map[string]int  `json:"m"`
}

func TestSchemaOfTypes(t *testing.T) {
	tool := tools.Typed("x", "", func(context.Context, *tools.Call, kinds) (tools.Result, error) { return tools.Result{}, nil })
	assert.JSONEq(t, `{"type":"object","required":["n","s"],"properties":{
		"n":{"type":"integer"},"s":{"type":"string"},"b":{"type":"boolean"},"f":{"type":"number"},"i8":{"type":"integer"},"u":{"type":"integer","minimum":0},
		"l":{"type":"array","items":{"type":"string"}},
		"o":{"type":"array","items":{"type":"object","required":["path"],"properties":{"path":{"type":"string","description":"absolute path","maxLength":4096}}}},
		"two":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},
		"at":{"type":"string","format":"date-time"},"raw":{"type":"string","contentEncoding":"base64"},"num":{"type":"number"},
		"p":{},"w":{"type":"string"},"text":{"type":"string"},"any":{},"m":{"type":"object","additionalProperties":{"type":"integer"}}}}`, string(tool.Schema))
}

// An input is read as the schema means it, and the error for what cannot be read says what the value
// must be.
func TestDecodeInput(t *testing.T) {
	base64 := []byte("hi")
	for in, want := range map[string]any{
		`{"n":0,"s":""}`:                                                kinds{},
		`{"n":"10","s":5,"b":"true","f":"1.5"}`:                         kinds{N: 10, S: "5", B: new(true), F: 1.5},
		`{"n":10.0,"s":true,"b":null,"l":null}`:                         kinds{N: 10, S: "true"},
		`{"n":1e3,"s":"x","u":18446744073709551615}`:                    kinds{N: 1000, S: "x", U: 18446744073709551615},
		`{"n":1,"s":"x","l":"[\"a\"]","o":{"path":"p"}}`:                kinds{N: 1, S: "x", L: []string{"a"}, O: []base{{"p"}}},
		`{"n":1,"s":"x","o":["{\"path\":\"p\"}"],"two":"[1,\"2\"]"}`:    kinds{N: 1, S: "x", O: []base{{"p"}}, Two: [2]int{1, 2}},
		`{"n":1,"s":"x","raw":"aGk=","num":12345678901234567890.5}`:     kinds{N: 1, S: "x", Raw: base64, Num: "12345678901234567890.5"},
		`{"n":1,"s":"x","at":"2026-01-02T03:04:05Z","p":[3,4],"w":"a"}`: kinds{N: 1, S: "x", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), P: &point{3, 4}, W: "a"},
		`{"n":1,"s":"x","text":"7","any":null,"m":{"a":"3"}}`:           kinds{N: 1, S: "x", Text: 7, Any: json.RawMessage("null"), M: map[string]int{"a": 3}},
		`{"n":1,"s":"x","text":7,"more":1,"N":5}`:                       kinds{N: 1, S: "x", Text: 7},

		`{"N":1,"s":"x"}`:                `"n" is missing; "N" is not known, the members are n, s, b, f, i8, u, l, o, two, at, raw, num, p, w, text, any, m`,
		`{"n":null,"s":null}`:            `"n" must be an integer, and it is null; "s" must be a string, and it is null`,
		`{"n":1.5,"s":{}}`:               `"n" must be an integer, and it is 1.5; "s" must be a string, and it is an object`,
		`{"n":1e99,"s":"x"}`:             `"n" must be an integer, and it is 1e99`,
		`{"n":1,"s":"x","i8":300}`:       `"i8" must be an integer from -128 to 127, and it is 300`,
		`{"n":1,"s":"x","u":-1}`:         `"u" must be an integer from 0, and it is -1`,
		`{"n":1,"s":"x","b":"maybe"}`:    `"b" must be a boolean, and it is the string "maybe"`,
		`{"n":1,"s":"x","l":"a"}`:        `"l" must be an array, and it is the string "a"`,
		`{"n":1,"s":"x","l":[null]}`:     `"l.0" must be a string, and it is null`,
		`{"n":1,"s":"x","o":[{"p":""}]}`: `"o.0.path" is missing; "o.0.p" is not known, the members are path`,
		`{"n":1,"s":"x","two":[1]}`:      `"two" must have exactly 2 items`,
		`{"n":1,"s":"x","at":"noon"}`:    `"at" must be a string with a time as in RFC 3339, and it is the string "noon"`,
		`{"n":1,"s":"x","raw":"%"}`:      `"raw" must be a string in base64, and it is the string "%"`,
		`{"n":1,"s":"x","p":{}}`:         `"p" has a value that is not valid here`,
		`{"n":1,"s":"x","w":"a b"}`:      `"w" must be a string that is valid here, and it is the string "a b"`,
		`{"n":1,"s":"x","text":"x"}`:     `a value has another form than the schema says`,
		`7`:                              `it must be an object, and it is 7`,
	} {
		got, err := tools.DecodeInput[kinds](json.RawMessage(in))
		if text, bad := want.(string); bad {
			assert.EqualError(t, err, "The input does not fit the schema: "+text+". Call the tool again.", in)
		} else if assert.NoError(t, err, in) {
			assert.Equal(t, want, got, in)
		}
	}
}

type hiddenBase struct{ A int }

func typed[In any]() {
	tools.Typed("x", "", func(context.Context, *tools.Call, In) (tools.Result, error) { return tools.Result{}, nil })
}

func TestTypedRefuses(t *testing.T) {
	type loop struct{ Next []loop }
	for want, make := range map[string]func(){
		"tools: the input of x: int is not a struct":                             typed[int],
		"tools: the input of x: field C: chan int has no JSON schema":            typed[struct{ C chan int }],
		"tools: the input of x: field M: the keys of map[int]int are no strings": typed[struct{ M map[int]int }],
		"tools: the input of x: field Next: tools_test.loop contains itself":     typed[loop],
		"tools: the input of x: field N: the rule min=x has no number": typed[struct {
			N int `validate:"min=x"`
		}],
		"tools: the input of x: time.Time is not a struct":                typed[time.Time],
		"tools: the input of x: field I: fmt.Stringer has no JSON schema": typed[struct{ I fmt.Stringer }],
		"tools: the input of x: field S: the option string is for numbers and booleans": typed[struct {
			S string `json:"s,string"`
		}],
		`tools: the input of x: field B: two fields have the name "B"`: typed[struct {
			A int `json:"B"`
			B int
		}],
		"tools: the input of x: field hiddenBase: a pointer to a type that is not exported cannot be decoded": typed[struct{ *hiddenBase }],
		"Undefined validation function 'nosuch' on field 'N'": typed[struct {
			N int `validate:"nosuch"`
		}],
		"Undefined validation function 'deep' on field 'N'": typed[struct {
			Edits []*struct {
				N int `validate:"deep"`
			} `validate:"dive"`
		}],
	} {
		assert.PanicsWithValue(t, want, make, want)
	}
}

func TestTypedWithoutFunction(t *testing.T) {
	assert.PanicsWithValue(t, "tools: x has no function: pass the one that runs a call", func() { tools.Typed[struct{}]("x", "", nil) })
}

func TestRegistryRefuses(t *testing.T) {
	fine := tools.Tool{Name: "a", Schema: object, Run: done}
	for want, change := range map[string]func(*tools.Tool){
		`tools: two tools have the name "a"`:                                            func(*tools.Tool) {},
		`tools: the name "a b" of a tool must be 1 to 64 letters, digits, - or _`:       func(t *tools.Tool) { t.Name = "a b" },
		`tools: the name "" of a tool must be 1 to 64 letters, digits, - or _`:          func(t *tools.Tool) { t.Name = "" },
		`tools: the tool "b" has no Run`:                                                func(t *tools.Tool) { t.Name, t.Run = "b", nil },
		`tools: the schema of the tool "b" must be a JSON object with "type": "object"`: func(t *tools.Tool) { t.Name, t.Schema = "b", json.RawMessage(`{}`) },
	} {
		bad := fine
		change(&bad)
		r, env := tools.NewRegistry(fine, bad), tools.Env{Session: &session{}}
		assert.EqualError(t, r.Err(), want)
		_, err := r.Run(t.Context(), env, nil)
		assert.EqualError(t, err, want)
		_, err = r.Announce(t.Context(), env, "a")
		assert.EqualError(t, err, want)
	}
	assert.Len(t, registry(t, fine).Tools(), 1)
}
