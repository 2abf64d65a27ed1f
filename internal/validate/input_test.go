package validate_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/validate"
)

// broken returns the violations of the rules of a user's struct, as "path: message".
func broken(v any) (all []string) {
	if fields := validate.Input(v); fields != nil {
		fields.Walk(func(path []string, message string) { all = append(all, strings.Join(path, "/")+": "+message) })
	}
	return all
}

func TestInput(t *testing.T) {
	type edit struct {
		Path string `json:"path" validate:"required"`
		Line *int   `json:"line,omitempty" validate:"omitempty,min=1"`
	}
	type position struct {
		Column int `json:"column" validate:"min=1"`
	}
	for name, tt := range map[string]struct {
		input any
		want  []string
	}{
		"nothing to check":   {&struct{ A string }{}, nil},
		"all rules are kept": {&edit{"/a", new(1)}, nil},
		"absent": {&struct {
			B *int  `json:"b" validate:"required"`
			C []int `json:"c" validate:"required"`
		}{}, []string{"b: must be present", "c: must be present"}},
		"zero is present, and has to keep the other rules": {&struct {
			A string `json:"a" validate:"required"`
			B int    `json:"b" validate:"required,min=2"`
			C edit   `json:"c" validate:"required"`
			D bool   `json:"d" validate:"required"`
		}{C: edit{Line: new(0)}}, []string{"b: must be at least 2", "c/line: must be at least 1"}},
		"zero behind a pointer is present": {&struct {
			A *int `json:"a" validate:"required"`
		}{new(0)}, nil},
		"numbers": {&struct {
			A int     `json:"a" validate:"min=2"`
			B float64 `json:"b" validate:"max=1.5"`
			C uint8   `json:"c" validate:"gte=1"`
			D int     `json:"d" validate:"lte=3"`
			E int     `json:"e" validate:"len=7"`
			F int     `json:"f" validate:"oneof=1 2"`
		}{1, 2, 0, 4, 6, 3}, []string{
			"a: must be at least 2", "b: must be at most 1.5", "c: must be at least 1", "d: must be at most 3",
			"e: must be exactly 7", "f: must be one of 1 2",
		}},
		"sizes": {&struct {
			A string         `json:"a" validate:"min=1"`
			B string         `json:"b" validate:"max=2"`
			C []int          `json:"c" validate:"min=1"`
			D []int          `json:"d" validate:"gte=2"`
			E map[string]int `json:"e" validate:"lte=0"`
			F [2]int         `json:"f" validate:"len=3"`
			G string         `json:"g" validate:"len=3"`
		}{B: "äöü", D: []int{1}, E: map[string]int{"x": 1}}, []string{
			"a: must not be empty", "b: must have at most 2 characters", "c: must not be empty", "d: must have at least 2 items",
			"e: must have at most 0 items", "f: must have exactly 3 items", "g: must have exactly 3 characters",
		}},
		"rules without a text of their own": {&struct {
			A string `json:"a" validate:"email"`
			B string `json:"b" validate:"omitempty,uuid"`
		}{A: "x"}, []string{"a: must keep the rule email"}},
		"structs and lists": {&struct {
			Edits []edit  `json:"edits" validate:"dive"`
			More  []*edit `json:"more" validate:"dive,required"`
			One   edit    `json:"one"`
			None  *edit   `json:"none"`
		}{Edits: []edit{{Path: "/a"}, {Line: new(0)}}, More: []*edit{nil}, One: edit{"/", new(-1)}}, []string{
			"edits/1/line: must be at least 1",
			"more/0: must be present", "one/line: must be at least 1",
		}},
		"lists of lists": {&struct {
			Rows [][]string `json:"rows" validate:"dive,dive,required,min=1"`
		}{[][]string{{"a"}, {"b", ""}}}, []string{"rows/1/1: must not be empty"}},
		"maps": {&struct {
			Env map[string]*int `json:"env" validate:"dive,required"`
			All map[string]edit `json:"all" validate:"dive"`
		}{map[string]*int{"a.b[c]": nil}, map[string]edit{"x.y": {Line: new(0)}}}, []string{
			"env/a.b[c]: must be present", "all/x.y/line: must be at least 1",
		}},
		"names": {&struct {
			Plain  int `validate:"min=1"`
			Dotted int `json:"a.b" validate:"min=1"`
			Hidden int `json:"-" validate:"min=1"`
			Only   int `json:",omitempty" validate:"min=1"`
		}{}, []string{"Plain: must be at least 1", "a.b: must be at least 1", ": must be at least 1", "Only: must be at least 1"}},
		"an embedded struct": {&struct {
			position
			End position `json:"end"`
		}{}, []string{"column: must be at least 1", "end/column: must be at least 1"}},
	} {
		t.Run(name, func(t *testing.T) { assert.ElementsMatch(t, tt.want, broken(tt.input)) })
	}
}

// A list with very many violations has an error text of bounded length.
func TestInputIsBounded(t *testing.T) {
	v := &struct {
		A []*int `json:"a" validate:"dive,required"`
	}{make([]*int, 10_000)}
	all := broken(v)
	require.NotEmpty(t, all)
	assert.LessOrEqual(t, len(all), 100)
	assert.Equal(t, "a/0: must be present", all[0])
}

func TestInputPanicsForAWrongRule(t *testing.T) {
	assert.PanicsWithValue(t, "Undefined validation function 'nosuch' on field 'N'", func() {
		validate.Input(&struct {
			N int `validate:"nosuch"`
		}{})
	})
}

func TestInputAtOnce(t *testing.T) {
	type input struct {
		A int `json:"a" validate:"min=5"`
	}
	var wg sync.WaitGroup
	for n := range 10 {
		wg.Go(func() { assert.Equal(t, n < 5, len(broken(&input{n})) == 1, fmt.Sprint(n)) })
	}
	wg.Wait()
}
