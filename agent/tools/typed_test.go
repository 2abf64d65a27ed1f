package tools_test

import (
	"context"
	"encoding/json"
	"testing"

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
		_, err := tools.NewRegistry(fine, bad)
		assert.EqualError(t, err, want)
	}
	assert.Len(t, registry(t, fine).Tools(), 1)
}
