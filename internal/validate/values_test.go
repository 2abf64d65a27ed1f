package validate_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
)

// variants lists what the unions of the vocabulary can hold. Reflection cannot find
// out; TestVariantsAreComplete holds the list against the sources.
var variants = map[reflect.Type][]any{
	reflect.TypeFor[acp.AuthMethod]():                {&acp.AuthMethodAgent{}, &acp.AuthMethodTerminal{}, &acp.UnknownAuthMethod{}},
	reflect.TypeFor[acp.SessionConfigKind]():         {&acp.SessionConfigSelect{}, &acp.SessionConfigBoolean{}, &acp.UnknownSessionConfigKind{}},
	reflect.TypeFor[acp.SessionConfigOptionValue]():  {&acp.SessionConfigValue{}, &acp.SessionConfigBooleanValue{}, &acp.UnknownSessionConfigOptionValue{}},
	reflect.TypeFor[acp.ContentBlock]():              {&acp.TextContent{}, &acp.ImageContent{}, &acp.AudioContent{}, &acp.ResourceLink{}, &acp.EmbeddedResource{}, &acp.UnknownContentBlock{}},
	reflect.TypeFor[acp.EmbeddedResourceResource]():  {&acp.TextResourceContents{}, &acp.BlobResourceContents{}, &acp.UnknownEmbeddedResourceResource{}},
	reflect.TypeFor[acp.ElicitationMode]():           {&acp.ElicitationFormMode{}, &acp.ElicitationURLMode{}, &acp.UnknownElicitationMode{}},
	reflect.TypeFor[acp.ElicitationScope]():          {&acp.ElicitationSessionScope{}, &acp.ElicitationRequestScope{}},
	reflect.TypeFor[acp.ElicitationAction]():         {&acp.ElicitationAcceptAction{}, &acp.ElicitationDeclineAction{}, &acp.ElicitationCancelAction{}, &acp.UnknownElicitationAction{}},
	reflect.TypeFor[acp.ElicitationContentValue]():   {acp.ElicitationString(""), acp.ElicitationInteger(0), acp.ElicitationNumber(0), acp.ElicitationBoolean(false), acp.ElicitationStrings(nil)},
	reflect.TypeFor[acp.ElicitationPropertySchema](): {&acp.StringPropertySchema{}, &acp.NumberPropertySchema{}, &acp.IntegerPropertySchema{}, &acp.BooleanPropertySchema{}, &acp.MultiSelectPropertySchema{}, &acp.UnknownElicitationPropertySchema{}},
	reflect.TypeFor[acp.MultiSelectItems]():          {&acp.StringMultiSelectItems{}, &acp.TitledMultiSelectItems{}, &acp.UnknownMultiSelectItems{}},
	reflect.TypeFor[acp.MCPServer]():                 {&acp.MCPServerStdio{}, &acp.MCPServerHTTP{}, &acp.MCPServerSSE{}, &acp.MCPServerACP{}, &acp.UnknownMCPServer{}},
	reflect.TypeFor[acp.RequestPermissionOutcome]():  {&acp.SelectedPermissionOutcome{}, &acp.CancelledPermissionOutcome{}, &acp.UnknownRequestPermissionOutcome{}},
	reflect.TypeFor[acp.PlanUpdateContent]():         {&acp.PlanItems{}, &acp.PlanFile{}, &acp.PlanMarkdown{}, &acp.UnknownPlanUpdateContent{}},
	reflect.TypeFor[acp.StateUpdate]():               {&acp.RunningStateUpdate{}, &acp.IdleStateUpdate{}, &acp.RequiresActionStateUpdate{}, &acp.UnknownStateUpdate{}, &acp.OtherStateUpdate{}},
	reflect.TypeFor[acp.ToolCallContent]():           {&acp.Content{}, &acp.Diff{}, &acp.Terminal{}, &acp.UnknownToolCallContent{}},
	reflect.TypeFor[acp.AvailableCommandInput]():     {&acp.UnstructuredCommandInput{}, &acp.UnknownAvailableCommandInput{}},
	reflect.TypeFor[acp.SessionUpdate](): {
		&acp.UserMessageChunk{}, &acp.AgentMessageChunk{}, &acp.AgentThoughtChunk{}, &acp.ToolCall{}, &acp.ToolCallUpdate{},
		&acp.Plan{}, &acp.PlanUpdate{}, &acp.PlanRemoved{}, &acp.AvailableCommandsUpdate{}, &acp.CurrentModeUpdate{},
		&acp.ConfigOptionUpdate{}, &acp.SessionInfoUpdate{}, &acp.UsageUpdate{}, &acp.Notice{}, &acp.CompactionUpdate{},
		&acp.CompactionSummaryChunk{}, &acp.SubagentUpdate{}, &acp.SessionMessage{}, &acp.SessionMessageChunk{}, &acp.UnknownSessionUpdate{},
	},
}

func TestVariantsAreComplete(t *testing.T) {
	marker := regexp.MustCompile(`(?m)^func \(\*?(\w+)\) is(\w+)\(\)`)
	want := map[string][]string{}
	paths, err := filepath.Glob("../../acp/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range marker.FindAllStringSubmatch(string(text), -1) {
			want[m[2]] = append(want[m[2]], m[1])
		}
	}
	got := map[string][]string{}
	for union, list := range variants {
		for _, v := range list {
			x := reflect.TypeOf(v)
			if x.Kind() == reflect.Pointer {
				x = x.Elem()
			}
			got[union.Name()] = append(got[union.Name()], x.Name())
		}
	}
	for _, names := range want {
		slices.Sort(names)
	}
	for _, names := range got {
		slices.Sort(names)
	}
	assert.Equal(t, want, got)
}

// texts are values that keep some rules and break others.
var texts = []string{
	"", "x", "/abs/path", "rel/path", `C:\x`, `\\host\share`, "file:///x", "https://example.com", "no uri:", "ü", " ", "a/b",
}

// random fills v, mostly well and sometimes badly.
func random(t *testing.T, r *rand.Rand, v reflect.Value, depth int) {
	switch v.Type() {
	case reflect.TypeFor[json.RawMessage]():
		if r.IntN(2) == 0 {
			v.SetBytes([]byte(`{"x":1}`))
		}
		return
	case reflect.TypeFor[acp.Meta]():
		return
	case reflect.TypeFor[acp.RequestID]():
		v.Set(reflect.ValueOf(acp.NumberID(1)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(3) - 1))
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(r.IntN(3)))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(3)) / 2)
	case reflect.Pointer:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			random(t, r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		n := r.IntN(4) - 1
		if n < 0 || depth == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			random(t, r, v.Index(i), depth-1)
		}
	case reflect.Map:
		if depth == 0 || r.IntN(3) == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"a.b", "c[0]"}[:r.IntN(3)] {
			elem := reflect.New(v.Type().Elem()).Elem()
			random(t, r, elem, depth-1)
			if elem.Type() == reflect.TypeFor[json.RawMessage]() {
				elem.SetBytes([]byte("1")) // nil is no JSON, and only the encoder says so
			}
			v.SetMapIndex(reflect.ValueOf(key), elem)
		}
	case reflect.Interface:
		randomVariant(t, r, v, depth)
	case reflect.Struct:
		if strings.HasPrefix(v.Type().Name(), "Opt[") {
			randomOpt(t, r, v, depth)
			return
		}
		for i := range v.NumField() {
			require.True(t, v.Type().Field(i).IsExported(), "%s has a field that the test cannot fill", v.Type())
			random(t, r, v.Field(i), depth)
		}
	default:
		require.Fail(t, "the test cannot fill", "%s", v.Type())
	}
}

func randomVariant(t *testing.T, r *rand.Rand, v reflect.Value, depth int) {
	list := variants[v.Type()]
	require.NotEmpty(t, list, "no variants of %s", v.Type())
	if r.IntN(12) == 0 {
		return // nil
	}
	pick := reflect.TypeOf(list[r.IntN(len(list))])
	if pick.Kind() != reflect.Pointer {
		x := reflect.New(pick).Elem()
		random(t, r, x, depth-1)
		v.Set(x)
		return
	}
	x := reflect.New(pick.Elem())
	switch {
	case r.IntN(30) == 0:
		x = reflect.Zero(pick) // a nil pointer in the interface
	case depth > 0:
		random(t, r, x.Elem(), depth-1)
	}
	v.Set(x)
}

// randomOpt reaches into the Opt, whose type parameter reflection cannot name.
func randomOpt(t *testing.T, r *rand.Rand, v reflect.Value, depth int) {
	state := uint8(r.IntN(3))
	field := func(name string) reflect.Value {
		f := v.FieldByName(name)
		return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	field("state").SetUint(uint64(state))
	if state == 2 {
		random(t, r, field("value"), depth)
	}
}
