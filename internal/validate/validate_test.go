package validate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-playground/validator/v10"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
)

// These types have the forms that the generator writes: a request with lists, a union, an inlined
// union, a patch field and maps.
type (
	request struct {
		ID     string           `json:"sessionId" acp:"id"`
		Dir    string           `json:"cwd,omitempty" acp:"omitempty,abspath"`
		More   []string         `json:"additionalDirectories,omitempty" acp:"dive,abspath"`
		Blocks []block          `json:"prompt" acp:"dive,required"`
		Only   block            `json:"only" acp:"required"`
		Mode   block            `json:"-" acp:"required"`
		Named  map[string]*link `json:"named,omitempty" acp:"dive"`
		Items  []item           `json:"items,omitempty" acp:"dive"`
		Item   *item            `json:"item,omitempty"`
		Patch  opt[string]      `json:"patch,omitzero" acp:"omitempty,abspath"`
		Opaque map[string]any   `json:"_meta,omitempty"`
		Skip   *link            `json:"skip,omitempty" acp:"-"`
		Plain  string
	}
	block interface{ isBlock() }
	link  struct {
		URI string `json:"uri" acp:"uri"`
	}
	text struct {
		Text string `json:"text"`
	}
	item struct {
		Title string   `json:"title" acp:"min=1"`
		Tags  []string `json:"tags,omitempty" acp:"omitempty,min=2,max=3"`
		Size  *int     `json:"size,omitempty" acp:"omitnil,min=2"`
	}
	opt[T any] struct {
		value T
		set   bool
	}
)

func (*link) isBlock() {}
func (*text) isBlock() {}

func (o opt[T]) Get() (T, bool) { return o.value, o.set }

func good() *request {
	return &request{ID: "s1", Only: &text{}, Mode: &text{}, Blocks: []block{&text{}, &link{URI: "file:///x"}}}
}

func TestStruct(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*request)
		strict string // violations of a strict check
		schema string // violations of a check of the schema only
	}{
		{"good", func(*request) {}, "", ""},
		{"empty id", func(r *request) { r.ID = "" }, "sessionId: must not be empty", ""},
		{"relative", func(r *request) { r.Dir = "x" }, "cwd: must be an absolute path", ""},
		{"windows", func(r *request) { r.Dir = `C:\x` }, "", ""},
		{"relative item", func(r *request) { r.More = []string{"/a", "b"} }, "additionalDirectories.1: must be an absolute path", ""},
		{"empty item", func(r *request) { r.More = []string{""} }, "additionalDirectories.0: must be an absolute path", ""},
		{"in a union", func(r *request) { r.Blocks[1] = &link{} }, "prompt.1.uri: must be a URI with a scheme", ""},
		{"nil union", func(r *request) { r.Only = nil }, "only: must be present", "only: must be present"},
		{"nil item", func(r *request) { r.Blocks[0] = nil }, "prompt.0: must be present", "prompt.0: must be present"},
		{"nil pointer in a union", func(r *request) { r.Blocks[0] = (*link)(nil) }, "prompt.0: must be present", "prompt.0: must be present"},
		{"inlined", func(r *request) { r.Mode = &link{URI: "x"} }, "uri: must be a URI with a scheme", ""},
		{"in a map", func(r *request) { r.Named = map[string]*link{"a.b[0]]": {}} }, "named.a.b[0]].uri: must be a URI with a scheme", ""},
		{"schema", func(r *request) { r.Items = []item{{}} }, "items.0.title: must not be empty", "items.0.title: must not be empty"},
		{"characters", func(r *request) { r.Items = []item{{Title: "ü"}} }, "", ""},
		{"behind a pointer", func(r *request) { r.Item = &item{} }, "item.title: must not be empty", "item.title: must not be empty"},
		{"too few", func(r *request) { r.Item = &item{Title: "t", Tags: []string{"x"}} },
			"item.tags: must have at least 2 items", "item.tags: must have at least 2 items"},
		{"too many", func(r *request) { r.Item = &item{Title: "t", Tags: make([]string, 4)} },
			"item.tags: must have at most 3 items", "item.tags: must have at most 3 items"},
		{"too small", func(r *request) { r.Item = &item{Title: "t", Size: new(1)} }, "item.size: must be at least 2", "item.size: must be at least 2"},
		{"patch", func(r *request) { r.Patch = opt[string]{"x", true} }, "patch: must be an absolute path", ""},
		{"patch is good", func(r *request) { r.Patch = opt[string]{"/x", true} }, "", ""},
		{"opaque", func(r *request) { r.Opaque = map[string]any{"x": link{}} }, "", ""},
		{"left alone", func(r *request) { r.Skip = &link{} }, "", ""},
		{"a URI with a space", func(r *request) { r.Blocks[1] = &link{URI: "file:///a b"} }, "prompt.1.uri: must be a URI: a space in it is written as %20", ""},
		{"several", func(r *request) { r.ID, r.Dir, r.Only = "", "x", nil },
			"cwd: must be an absolute path; only: must be present; sessionId: must not be empty", "only: must be present"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := good()
			tt.change(r)
			assert.Equal(t, tt.strict, validate.Struct(r, true).String(), "strict")
			assert.Equal(t, tt.schema, validate.Struct(r, false).String(), "schema only")
			assert.Equal(t, tt.strict == "", validate.Struct(r, true) == nil)
		})
	}
}

func TestTreeOnTheWire(t *testing.T) {
	r := good()
	r.Dir, r.Blocks[1] = "x", &link{}
	b, err := json.Marshal(validate.Struct(r, true))
	require.NoError(t, err)
	assert.JSONEq(t, `{"_errors":[],
		"cwd":{"_errors":["must be an absolute path"]},
		"prompt":{"_errors":[],"1":{"_errors":[],"uri":{"_errors":["must be a URI with a scheme"]}}}}`, string(b))
}

func TestStructOfOtherValues(t *testing.T) {
	assert.Equal(t, wire.Violation("must be present"), validate.Struct((*request)(nil), true))
	assert.Nil(t, validate.Struct(new("text"), true))
	assert.Nil(t, validate.Struct(&struct{}{}, true))
	assert.Nil(t, validate.Struct(nil, true))
}

func TestMessagesNeverRepeatValues(t *testing.T) {
	r := good()
	r.Dir = "canary"
	r.Named = map[string]*link{"k": {URI: "canary"}}
	assert.NotContains(t, validate.Struct(r, true).String(), "canary")
}

// The check ends with the last violation that is listed: a long list of invalid values costs neither
// time nor memory.
func TestViolationsAreBounded(t *testing.T) {
	r := good()
	r.More = make([]string, 100_000) // none of them is absolute
	for range 400_000 {
		r.Items = append(r.Items, item{})
		r.Blocks = append(r.Blocks, &link{})
	}
	for _, strict := range []bool{true, false} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fields := validate.Struct(r, strict)
		runtime.ReadMemStats(&after)
		listed := 0
		fields.Walk(func([]string, string) { listed++ })
		assert.Equal(t, 100, listed)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	}
}

func TestConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { // ends with its loop
			for range 100 {
				r := good()
				r.ID = strings.Repeat("x", i%2)
				assert.Equal(t, i%2 == 1, validate.Struct(r, true) == nil)
				assert.Nil(t, validate.Struct(r, false))
			}
		})
	}
	wg.Wait()
}

func TestIsValidation(t *testing.T) {
	v := validator.New()
	fields := v.Struct(struct {
		Name string `validate:"required"`
	}{})
	require.Error(t, fields)
	var list validator.ValidationErrors
	require.ErrorAs(t, fields, &list)
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"plain", errors.New("x"), false},
		{"fields", fields, true},
		{"wrapped", fmt.Errorf("checking: %w", fields), false},
		{"one field", list[0], true},
		{"misuse", v.Struct(5), true},
		{"ours on the wire", &wire.DecodeError{Fields: wire.Violation("x")}, false},
	} {
		assert.Equal(t, tt.want, validate.IsValidation(tt.err), tt.name)
	}
}

func BenchmarkStruct(b *testing.B) {
	for name, r := range map[string]*request{"good": good(), "bad": {Dir: "x", Only: &text{}, Mode: &text{}}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				validate.Struct(r, true)
			}
		})
	}
}
