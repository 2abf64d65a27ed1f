package acpotel

import (
	"maps"
	"reflect"
	"slices"

	"github.com/acpkit/go-sdk/acp"
)

// carrier is a propagation.TextMapCarrier over the _meta of a message.
type carrier acp.Meta

// Get returns a text, and "" for a member that is missing or not a text.
func (c carrier) Get(key string) string { text, _ := c[key].(string); return text }

// Set adds a text.
func (c carrier) Set(key, value string) { c[key] = value }

// Keys returns the names of all members.
func (c carrier) Keys() []string { return slices.Collect(maps.Keys(c)) }

// metaOf returns the _meta of params, nil if there is none.
func metaOf(params any) carrier {
	meta, _ := field(params, "Meta").(acp.Meta)
	return carrier(meta)
}

// sessionOf returns the id of the session that params name, "" if there is none.
func sessionOf(params any) string {
	id, _ := field(params, "SessionID").(acp.SessionID)
	return string(id)
}

// field returns a field of the struct that params point to. Extensions have raw params,
// without fields.
func field(params any, name string) any {
	v := reflect.ValueOf(params)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	f := v.Elem().FieldByName(name)
	if !f.IsValid() {
		return nil
	}
	return f.Interface()
}

// withMeta returns a copy of params whose _meta has more members. It does not change
// params, which belong to the caller.
func withMeta(params any, more carrier) any {
	meta, ok := field(params, "Meta").(acp.Meta)
	if !ok || len(more) == 0 {
		return params
	}
	if meta = maps.Clone(meta); meta == nil {
		meta = acp.Meta{}
	}
	maps.Copy(meta, acp.Meta(more))
	v := reflect.ValueOf(params).Elem()
	changed := reflect.New(v.Type())
	changed.Elem().Set(v)
	changed.Elem().FieldByName("Meta").Set(reflect.ValueOf(meta))
	return changed.Interface()
}
