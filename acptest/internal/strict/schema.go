// Package strict judges what a peer sends by the JSON schema of the protocol, every member of it. The
// types of this project cannot: they read what is wrong as the protocol tells readers to.
//
// It is no general validator. It knows the keywords that the schemas of the protocol use, the tag that
// chooses a variant of a union, and the marks of members which readers must forgive, so that it names the
// one member that is wrong, and how much that matters.
package strict

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/acpkit/go-sdk/internal/schema"
)

// node is a schema.
type node struct {
	Ref         string           `json:"$ref"`
	Type        words            `json:"type"`
	Const       json.RawMessage  `json:"const"`
	Enum        []any            `json:"enum"`
	Properties  map[string]*node `json:"properties"`
	Required    []string         `json:"required"`
	Items       *node            `json:"items"`
	Additional  json.RawMessage  `json:"additionalProperties"`
	AllOf       []*node          `json:"allOf"`
	AnyOf       []*node          `json:"anyOf"`
	OneOf       []*node          `json:"oneOf"`
	Not         *node            `json:"not"`
	Minimum     *json.Number     `json:"minimum"`
	Maximum     *json.Number     `json:"maximum"`
	MinLength   *int             `json:"minLength"`
	MinItems    *int             `json:"minItems"`
	Format      string           `json:"format"`
	Encoding    string           `json:"contentEncoding"`
	Forgive     bool             `json:"x-deserialize-default-on-error"`
	ForgiveItem bool             `json:"x-deserialize-skip-invalid-items"`
	ForgiveNull bool             `json:"x-deserialize-default-on-null"`
	Unsure      bool             `json:"x-unsure"`
	Side        string           `json:"x-side"`
	Method      string           `json:"x-method"`

	constant any   // Const
	values   *node // of a map
}

// words are one type, or several.
type words []string

func (w *words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// set is the schema of a version.
type set struct{ defs map[string]*node }

var versions = [...]func() *set{1: load("v1-unstable.json"), 2: load("v2-unstable.json")}

// load returns a function that reads a schema once. A schema that cannot be read is a fault of the build.
func load(name string) func() *set {
	return sync.OnceValue(func() *set {
		b, err := schema.Files.ReadFile(name)
		var file struct {
			Defs map[string]*node `json:"$defs"`
		}
		if err == nil {
			err = json.Unmarshal(b, &file)
		}
		if err != nil {
			panic(fmt.Sprintf("strict: %s: %v", name, err))
		}
		s := &set{file.Defs}
		for _, n := range s.defs {
			s.prepare(n)
		}
		return s
	})
}

func (s *set) prepare(n *node) {
	if n == nil {
		return
	}
	if n.Const != nil {
		n.constant, _ = decode(n.Const) // it was read as JSON
	}
	if len(n.Additional) > 0 && n.Additional[0] == '{' {
		n.values = &node{}
		_ = json.Unmarshal(n.Additional, n.values) // as above
	}
	for _, child := range n.Properties {
		s.prepare(child)
	}
	for _, list := range [][]*node{n.AllOf, n.AnyOf, n.OneOf, {n.Items, n.Not, n.values}} {
		for _, child := range list {
			s.prepare(child)
		}
	}
}

// Def returns the name of the schema of a payload: the params of a method, or with result its result. It
// is "" if there is none.
func Def(version int, method string, result bool) string {
	names := defs[version]()
	if result {
		return names.results[method]
	}
	return names.params[method]
}

type names struct{ params, results map[string]string }

var defs = [...]func() names{1: index(1), 2: index(2)}

func index(version int) func() names {
	return sync.OnceValue(func() names {
		all := names{map[string]string{}, map[string]string{}}
		for name, n := range versions[version]().defs {
			switch {
			case n.Method == "":
			case len(name) > 8 && name[len(name)-8:] == "Response":
				all.results[n.Method] = name
			default:
				all.params[n.Method] = name
			}
		}
		return all
	})
}
