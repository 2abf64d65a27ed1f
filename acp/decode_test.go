package acp_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Each input is decoded to a value that is encoded as out, or fails with err.
func TestReadRules(t *testing.T) {
	for name, c := range map[string]struct{ def, in, out, err string }{
		// Required members.
		"required missing":         {def: "ListSessionsResponse", in: `{}`, err: "sessions: missing"},
		"required null":            {def: "TextContent", in: `{"text":null}`, err: "text: expected string, got null"},
		"required lenient missing": {def: "SessionUpdate", in: `{"sessionUpdate":"plan"}`, err: "entries: missing"},
		"several":                  {def: "ReadTextFileRequest", in: `{"path":5,"line":"x"}`, err: "line: expected number, got string; path: expected string, got number; sessionId: missing"},
		"nested":                   {def: "NewSessionRequest", in: `{"cwd":"/","mcpServers":[{"name":"a","command":"c","args":[1],"env":[]}]}`, err: "mcpServers.0.args.0: expected string, got number"},
		"not an object":            {def: "PromptRequest", in: `[1]`, err: "expected object, got array"},
		"nothing":                  {def: "PromptRequest", in: ``, err: "expected object, got nothing"},

		// Absent, null, default.
		"null list":           {def: "NewSessionRequest", in: `{"cwd":"/","mcpServers":null}`, out: `{"cwd":"/","mcpServers":[]}`},
		"null list lenient":   {def: "ListSessionsResponse", in: `{"sessions":null}`, out: `{"sessions":[]}`},
		"null list strict":    {def: "PromptRequest", in: `{"sessionId":"s","prompt":null}`, err: "prompt: expected array, got null"},
		"null optional":       {def: "CreateTerminalRequest", in: `{"sessionId":"s","command":"c","cwd":null,"outputByteLimit":null}`, out: `{"sessionId":"s","command":"c"}`},
		"malformed optional":  {def: "CreateTerminalRequest", in: `{"sessionId":"s","command":"c","cwd":5}`, err: "cwd: expected string, got number"},
		"not nullable":        {def: "SetProviderRequest", in: `{"providerId":"p","apiType":"x","baseUrl":"u:x","headers":null}`, err: "headers: expected object, got null"},
		"default on error":    {def: "InitializeRequest", in: `{"protocolVersion":1,"clientCapabilities":null,"clientInfo":5}`, out: `{"protocolVersion":1}`},
		"default list":        {def: "InitializeResponse", in: `{"protocolVersion":1,"authMethods":"x"}`, out: `{"protocolVersion":1,"authMethods":[]}`},
		"default enumeration": {def: "ElicitationSchema", in: `{"type":5}`, out: `{"type":"object","properties":{}}`},
		"raw null kept":       {def: "ToolCallUpdate", in: `{"toolCallId":"t","rawInput":null}`, out: `{"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":null}`},
		"meta malformed":      {def: "TextContent", in: `{"text":"x","_meta":5}`, out: `{"type":"text","text":"x"}`},

		// Lists.
		"skipped items":   {def: "ListSessionsResponse", in: `{"sessions":[{"cwd":"/"},5,{"sessionId":"s","cwd":"/","z":1}]}`, out: `{"sessions":[{"sessionId":"s","cwd":"/"}]}`},
		"kept variants":   {def: "ToolCall", in: `{"toolCallId":"t","title":"x","kind":"zap","status":null,"content":[{"type":"zap"},{"type":"terminal","terminalId":"1"},{"type":"diff"}]}`, out: `{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","kind":"zap","content":[{"type":"zap"},{"type":"terminal","terminalId":"1"}]}`},
		"strict items":    {def: "PromptRequest", in: `{"sessionId":"s","prompt":[{"type":"text","text":"x"},{"type":"text"}]}`, err: "prompt.1.text: missing"},
		"flat options":    {def: "SessionConfigSelectOptions", in: `[{"value":"a","name":"A"},{"value":"b"}]`, err: "1.name: missing"},
		"grouped options": {def: "SessionConfigSelectOptions", in: `[{"group":"g","name":"G","options":[{"value":"a","name":"A"},{"value":"b"}]}]`, out: `[{"group":"g","name":"G","options":[{"value":"a","name":"A"}]}]`},
		"no options":      {def: "SessionConfigSelectOptions", in: `[]`, out: `[]`},

		// Numbers.
		"beyond uint32":    {def: "ToolCallLocation", in: `{"path":"/","line":4294967296}`, out: `{"path":"/"}`},
		"negative":         {def: "UsageUpdate", in: `{"used":-1,"size":1}`, err: "used: must not be negative"},
		"uint64":           {def: "UsageUpdate", in: `{"used":18446744073709551615,"size":0}`, out: `{"sessionUpdate":"usage_update","used":18446744073709551615,"size":0}`},
		"beyond uint64":    {def: "UsageUpdate", in: `{"used":18446744073709551616,"size":0}`, err: "used: expected an integer of 64 bits"},
		"int64":            {def: "IntegerPropertySchema", in: `{"minimum":-9223372036854775808,"maximum":9223372036854775807}`, out: `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}`},
		"beyond int64":     {def: "IntegerPropertySchema", in: `{"maximum":9223372036854775808}`, err: "maximum: expected an integer of 64 bits"},
		"whole fraction":   {def: "UsageUpdate", in: `{"used":5.0,"size":1.2e3}`, out: `{"sessionUpdate":"usage_update","used":5,"size":1200}`},
		"true fraction":    {def: "IntegerPropertySchema", in: `{"minimum":1.5}`, err: "minimum: expected an integer of 64 bits"},
		"huge exponent":    {def: "UsageUpdate", in: `{"used":1e999999999999,"size":0e99}`, err: "used: expected an integer of 64 bits"},
		"minus zero":       {def: "UsageUpdate", in: `{"used":-0,"size":0}`, out: `{"sessionUpdate":"usage_update","used":0,"size":0}`},
		"beyond float":     {def: "Cost", in: `{"amount":1e999,"currency":"EUR"}`, err: "amount: number out of range"},
		"version":          {def: "InitializeRequest", in: `{"protocolVersion":65536}`, err: "protocolVersion: must not exceed 65535"},
		"beyond int32":     {def: "Error", in: `{"code":2147483648,"message":"m"}`, err: "code: expected an integer of 32 bits"},
		"exit code":        {def: "WaitForTerminalExitResponse", in: `{"exitCode":-1,"signal":"x"}`, out: `{"signal":"x"}`},
		"empty title":      {def: "Notice", in: `{"severity":"info","title":""}`, err: "title: must not be empty"},
		"exact small":      {def: "TextContent", in: `{"text":"","_meta":{"n":9007199254740993,"f":0.1,"i":5,"x":1e400,"neg":-9007199254740993}}`, out: `{"type":"text","text":"","_meta":{"f":0.1,"i":5,"n":9007199254740993,"neg":-9007199254740993,"x":1e400}}`},
		"exact big in raw": {def: "ToolCallUpdate", in: `{"toolCallId":"t","rawInput":{"n":12345678901234567890123 , "f":1.50}}`, out: `{"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":{"n":12345678901234567890123 , "f":1.50}}`},

		// Names.
		"case sensitive": {def: "TextContent", in: `{"Text":"x"}`, err: "text: missing"},
		"escaped name":   {def: "TextContent", in: `{"te\u0078t":"x"}`, out: `{"type":"text","text":"x"}`},
		"duplicate":      {def: "TextContent", in: `{"text":"x","text":"y"}`, err: "text: duplicate member"},
		"duplicate tag":  {def: "ContentBlock", in: `{"type":"text","text":"x","type":"text"}`, err: "type: duplicate member"},
		"duplicate else": {def: "TextContent", in: `{"z":1,"text":"x","z":2}`, out: `{"type":"text","text":"x"}`},

		// Texts.
		"bad UTF-8":       {def: "TextContent", in: "{\"text\":\"a\xff\"}", out: `{"type":"text","text":"a` + "\ufffd" + `"}`},
		"lone surrogate":  {def: "TextContent", in: `{"text":"\ud83d"}`, out: `{"type":"text","text":"` + "\ufffd" + `"}`},
		"verbatim in raw": {def: "ToolCallUpdate", in: "{\"toolCallId\":\"t\",\"rawInput\":\"\\ud83d\xff\"}", out: "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"rawInput\":\"\\ud83d\xff\"}"},

		// Unions.
		"tag last":                {def: "ContentBlock", in: `{"text":"x","type":"text"}`, out: `{"type":"text","text":"x"}`},
		"tag missing":             {def: "ContentBlock", in: `{"text":"x"}`, err: "type: missing"},
		"tag no string":           {def: "ContentBlock", in: `{"type":5}`, err: "type: expected string"},
		"tag unknown":             {def: "ContentBlock", in: `{"b":[ 1 ],"type":"video"}`, out: `{"b":[ 1 ],"type":"video"}`},
		"tag empty":               {def: "ContentBlock", in: `{"type":""}`, out: `{"type":""}`},
		"union no object":         {def: "ContentBlock", in: `"x"`, err: "expected object, got string"},
		"known with bad payload":  {def: "ContentBlock", in: `{"type":"text"}`, err: "text: missing"},
		"bad text, good blob":     {def: "EmbeddedResource", in: `{"resource":{"uri":"u","text":1,"blob":"b"}}`, out: `{"type":"resource","resource":{"blob":"b","uri":"u"}}`},
		"neither text nor blob":   {def: "EmbeddedResource", in: `{"resource":{"uri":"u","text":1,"blob":2}}`, err: "resource.text: expected string, got number"},
		"text wins":               {def: "EmbeddedResource", in: `{"resource":{"uri":"u","text":"t","blob":"b"}}`, out: `{"type":"resource","resource":{"text":"t","uri":"u"}}`},
		"neither":                 {def: "EmbeddedResource", in: `{"resource":{"uri":"u"}}`, out: `{"type":"resource","resource":{"uri":"u"}}`},
		"server without type":     {def: "McpServer", in: `{"name":"n","command":"c","args":null,"env":null}`, out: `{"name":"n","command":"c","args":[],"env":[]}`},
		"server stdio":            {def: "McpServer", in: `{"type":"stdio","name":"n"}`, err: "args: missing; command: missing; env: missing"},
		"server unknown":          {def: "McpServer", in: `{"type":"weird","name":"n"}`, out: `{"type":"weird","name":"n"}`},
		"server unknown as stdio": {def: "McpServer", in: `{"type":"weird","name":"n","command":"c","args":[],"env":[]}`, out: `{"name":"n","command":"c","args":[],"env":[]}`},
		"auth agent by name":      {def: "AuthMethod", in: `{"type":"agent","id":"a","name":"A"}`, out: `{"id":"a","name":"A"}`},
		"auth unknown":            {def: "AuthMethod", in: `{"type":"env_var","id":"a","vars":[1]}`, out: `{"type":"env_var","id":"a","vars":[1]}`},
		"auth without name":       {def: "AuthMethod", in: `{"id":"a"}`, err: "name: missing"},
		"titled items":            {def: "MultiSelectItems", in: `{"anyOf":[{"const":"a","title":"A"}]}`, out: `{"anyOf":[{"const":"a","title":"A"}]}`},
		"other items":             {def: "MultiSelectItems", in: `{"type":"_x","anyOf":5}`, out: `{"type":"_x","anyOf":5}`},
		"state unknown":           {def: "StateUpdate", in: `{"state":"unknown"}`, out: `{"state":"unknown"}`},
		"state of the future":     {def: "StateUpdate", in: `{"state":"paused","x":1}`, out: `{"state":"paused","x":1}`},
		"idle":                    {def: "StateUpdate", in: `{"state":"idle","stopReason":"error","error":{"code":1}}`, out: `{"state":"idle","stopReason":"error"}`},
		"idle stop reason":        {def: "StateUpdate", in: `{"state":"idle","stopReason":7}`, out: `{"state":"idle"}`},

		// Unions among other members.
		"boolean value":   {def: "SetSessionConfigOptionRequest", in: `{"value":true,"sessionId":"s","type":"boolean","configId":"c"}`, out: `{"sessionId":"s","configId":"c","type":"boolean","value":true}`},
		"value id":        {def: "SetSessionConfigOptionRequest", in: `{"sessionId":"s","configId":"c","value":"v"}`, out: `{"sessionId":"s","configId":"c","value":"v"}`},
		"string boolean":  {def: "SetSessionConfigOptionRequest", in: `{"sessionId":"s","configId":"c","type":"boolean","value":"v"}`, out: `{"sessionId":"s","configId":"c","value":"v"}`},
		"unknown string":  {def: "SetSessionConfigOptionRequest", in: `{"sessionId":"s","configId":"c","type":"_x","value":"v"}`, out: `{"sessionId":"s","configId":"c","value":"v"}`},
		"unknown value":   {def: "SetSessionConfigOptionRequest", in: `{"sessionId":"s","configId":"c","type":"_x","value":{"a":1}}`, out: `{"sessionId":"s","configId":"c","type":"_x","value":{"a":1}}`},
		"bad value":       {def: "SetSessionConfigOptionRequest", in: `{"sessionId":"s","configId":"c","value":5}`, err: "value: expected string, got number"},
		"no value":        {def: "SetSessionConfigOptionRequest", in: `{"sessionId":"s","configId":"c"}`, err: "value: missing"},
		"form":            {def: "CreateElicitationRequest", in: `{"requestedSchema":{},"mode":"form","sessionId":"s","message":"m"}`, out: `{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}},"sessionId":"s"}`},
		"session wins":    {def: "CreateElicitationRequest", in: `{"requestId":1,"requestedSchema":{},"mode":"form","sessionId":"s","message":"m"}`, out: `{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}},"sessionId":"s"}`},
		"request scope":   {def: "CreateElicitationRequest", in: `{"mode":"url","elicitationId":"e","url":"https://x","requestId":null,"message":"m"}`, out: `{"message":"m","mode":"url","elicitationId":"e","url":"https://x","requestId":null}`},
		"no scope":        {def: "CreateElicitationRequest", in: `{"message":"m","mode":"form","requestedSchema":{}}`, err: "sessionId: missing"},
		"mode unknown":    {def: "CreateElicitationRequest", in: `{"message":"m","mode":"_x","sessionId":"s","q":[1],"_meta":{"a":1}}`, out: `{"message":"m","mode":"_x","sessionId":"s","q":[1],"_meta":{"a":1}}`},
		"action unknown":  {def: "CreateElicitationResponse", in: `{"action":"_x","y":1}`, out: `{"action":"_x","y":1}`},
		"action bad":      {def: "CreateElicitationResponse", in: `{"action":"accept","content":{"a":{"x":1}}}`, err: "content.a: expected string, number, boolean or array of strings, got object"},
		"option unknown":  {def: "SessionConfigOption", in: `{"id":"i","name":"n","type":"slider","currentValue":1}`, out: `{"id":"i","name":"n","type":"slider","currentValue":1}`},
		"values":          {def: "ElicitationAcceptAction", in: `{"content":{"a":"x","b":5,"c":5.0,"d":1.5,"e":true,"f":["x"],"g":1e300,"h":18446744073709551615}}`, out: `{"action":"accept","content":{"a":"x","b":5,"c":5,"d":1.5,"e":true,"f":["x"],"g":1e+300,"h":18446744073709552000}}`},
		"MCP result null": {def: "MessageMcpResponse", in: `{"result":null,"error":{"code":1,"message":"m"}}`, out: `{"result":null}`},
		"MCP error":       {def: "MessageMcpResponse", in: `{"error":{"code":1,"message":"m","data":null,"extra":[1]}}`, out: `{"error":{"code":1,"message":"m","data":null,"extra":[1]}}`},
		"MCP neither":     {def: "MessageMcpResponse", in: `{}`, err: "result: missing"},
		"MCP params":      {def: "MessageMcpRequest", in: `{"serverId":"s","requestId":"r","method":"m","params":[1]}`, err: "params: expected object, got array"},

		// Three states.
		"patch absent":    {def: "SessionInfoUpdate", in: `{"title":5}`, out: `{"sessionUpdate":"session_info_update"}`},
		"patch null":      {def: "SessionInfoUpdate", in: `{"title":null,"updatedAt":"x"}`, out: `{"sessionUpdate":"session_info_update","title":null,"updatedAt":"x"}`},
		"patch empty":     {def: "SessionMessage", in: `{"messageId":"m","content":[]}`, out: `{"sessionUpdate":"session_message","messageId":"m","content":[]}`},
		"patch list null": {def: "CompactionUpdate", in: `{"compactionId":"c","status":"x","summary":null,"error":""}`, out: `{"sessionUpdate":"compaction_update","compactionId":"c","status":"x","summary":null,"error":""}`},
		"patch strict":    {def: "SubagentUpdate", in: `{"sessionId":"s","cwd":5}`, err: "cwd: expected string, got number"},
		"default null":    {def: "IntegerPropertySchema", in: `{"default":null}`, out: `{"type":"integer","default":null}`},
		"default bad":     {def: "IntegerPropertySchema", in: `{"default":"x"}`, out: `{"type":"integer"}`},

		// Ids.
		"id number": {def: "ElicitationRequestScope", in: `{"requestId":1.5}`, out: `{"requestId":1.5}`},
		"id string": {def: "ElicitationRequestScope", in: `{"requestId":"\u0041"}`, out: `{"requestId":"\u0041"}`},
		"id big":    {def: "ElicitationRequestScope", in: `{"requestId":9007199254740993}`, out: `{"requestId":9007199254740993}`},
		"id object": {def: "ElicitationRequestScope", in: `{"requestId":{}}`, err: "requestId: expected string, number or null, got object"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := version.Recode(t, c.def, []byte(c.in))
			if c.err != "" {
				var bad *wire.DecodeError
				require.ErrorAs(t, err, &bad)
				assert.Equal(t, c.err, bad.Fields.String())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.out, string(out))
		})
	}
}

// Params and results without required members may be absent or null.
func TestNothingIsEmptyObject(t *testing.T) {
	for _, raw := range []string{``, `null`, ` null `, `{}`} {
		v, _, err := wire.Request(1, acp.MethodSessionSetMode).Result.Decode([]byte(raw))
		require.NoError(t, err, raw)
		assert.Equal(t, &acp.SetSessionModeResponse{}, v)
		v, _, err = wire.Request(1, acp.MethodSessionLoad).Result.Decode([]byte(raw))
		require.NoError(t, err, raw)
		assert.Equal(t, &acp.LoadSessionResponse{}, v)
	}
	_, _, err := wire.Request(1, acp.MethodSessionNew).Result.Decode([]byte(`null`))
	assert.EqualError(t, err, "json: expected object, got null")
}

// The depth of values is bounded.
func TestDeepMeta(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 990) + `1` + strings.Repeat(`}`, 990)
	out, err := version.Recode(t, "TextContent", []byte(`{"text":"x","_meta":`+deep+`}`))
	require.NoError(t, err)
	assert.Equal(t, `{"type":"text","text":"x","_meta":`+deep+`}`, string(out))

	meta := acp.Meta{}
	for range 5000 {
		meta = acp.Meta{"a": map[string]any(meta)}
	}
	_, err = json.Marshal(&acp.TextContent{Meta: meta})
	assert.ErrorContains(t, err, "nested too deep")
}

// The error names the path of the value that cannot be encoded.
func TestEncodeErrors(t *testing.T) {
	for want, v := range map[string]json.Marshaler{
		"json: update: missing":                                      &acp.SessionNotification{SessionID: "s"},
		"json: update: missing raw JSON":                             &acp.SessionNotification{Update: &acp.UnknownSessionUpdate{}},
		"json: update.content: missing":                              &acp.SessionNotification{Update: &acp.AgentMessageChunk{}},
		"json: content: missing":                                     &acp.AgentMessageChunk{Content: (*acp.TextContent)(nil)},
		"json: prompt[1]: missing":                                   &acp.PromptRequest{Prompt: []acp.ContentBlock{acp.Text("x"), nil}},
		"json: mode: missing":                                        &acp.CreateElicitationRequest{Message: "m"},
		"json: sessionId: missing":                                   &acp.CreateElicitationRequest{Message: "m", Mode: &acp.ElicitationFormMode{}},
		"json: value: missing":                                       &acp.SetSessionConfigOptionRequest{},
		"json: requestId: missing":                                   &acp.ElicitationRequestScope{},
		"json: content.a: missing":                                   &acp.ElicitationAcceptAction{Content: map[string]acp.ElicitationContentValue{"a": nil}},
		"json: result: missing":                                      &acp.MessageMCPResponse{},
		"json: both a result and an error":                           &acp.MessageMCPResponse{Result: json.RawMessage(`1`), Error: &acp.MCPError{}},
		"json: amount: not a number that JSON can hold":              &acp.Cost{Amount: inf()},
		"json: rawInput: raw json: expected a digit at offset 1":     &acp.ToolCall{RawInput: json.RawMessage(`-`)},
		"json: rawInput: raw json: more than one value at offset 2":  &acp.ToolCall{RawInput: json.RawMessage(`1 2`)},
		"json: params: expected raw JSON of an object":               &acp.MessageMCPRequest{Params: json.RawMessage(`[]`)},
		"json: content: expected raw JSON of an object":              &acp.AgentMessageChunk{Content: &acp.UnknownContentBlock{Raw: json.RawMessage(`[]`)}},
		"json: _meta.x: json: unsupported type: func()":              &acp.TextContent{Meta: acp.Meta{"x": func() {}}},
		`json: options: both grouped and ungrouped`:                  &acp.SessionConfigSelect{Options: acp.SessionConfigSelectOptions{Grouped: make([]acp.SessionConfigSelectGroup, 1), Ungrouped: make([]acp.SessionConfigSelectOption, 1)}},
		"json: update.content[0].content.resource: missing raw JSON": &acp.SessionNotification{Update: &acp.ToolCall{Content: []acp.ToolCallContent{&acp.Content{Content: &acp.EmbeddedResource{Resource: &acp.UnknownEmbeddedResourceResource{}}}}}},
		"json: _meta.a[1].b: not a number that JSON can hold":        &acp.TextContent{Text: `{"[,]`, Meta: acp.Meta{"a": []any{"x,y", map[string]any{"b": inf()}}}},
		"json: configOptions[0].type: missing":                       &acp.ConfigOptionUpdate{ConfigOptions: []acp.SessionConfigOption{{ID: "i"}}},
		"json: outcome: missing":                                     &acp.RequestPermissionResponse{},
		"json: mcpServers[0]: missing":                               &acp.NewSessionRequest{MCPServers: []acp.MCPServer{(*acp.MCPServerStdio)(nil)}},
		"json: requestedSchema.properties.a: missing":                &acp.ElicitationFormMode{RequestedSchema: acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{"a": nil}}},
	} {
		_, err := v.MarshalJSON()
		var bad *wire.EncodeError
		require.ErrorAs(t, err, &bad, want)
		assert.Equal(t, want, err.Error())
	}
}

// An unknown variant without raw JSON is encoded as an object with its tag.
func TestUnknownVariantsWithoutRaw(t *testing.T) {
	for union, variants := range version.Variants {
		unknown := reflect.New(reflect.TypeOf(variants[len(variants)-1]).Elem())
		kind := unknown.Elem().FieldByName("Type")
		if !kind.IsValid() {
			continue
		}
		kind.SetString("_x")
		raw, err := json.Marshal(unknown.Interface())
		require.NoError(t, err, union)
		assert.JSONEq(t, `{"`+version.Tags[union.Name()]+`":"_x"}`, string(raw), union)
	}
	for want, v := range map[string]any{
		`{"sessionId":"s","update":{"sessionUpdate":"_x"}}`:       &acp.SessionNotification{SessionID: "s", Update: &acp.UnknownSessionUpdate{Type: "_x"}},
		`{"message":"m","mode":"_x"}`:                             &acp.CreateElicitationRequest{Message: "m", Mode: &acp.UnknownElicitationMode{Type: "_x"}},
		`{"sessionId":"s","configId":"c","type":"_x"}`:            &acp.SetSessionConfigOptionRequest{SessionID: "s", ConfigID: "c", Value: &acp.UnknownSessionConfigOptionValue{Type: "_x"}},
		`{"outcome":{"outcome":"_x"},"_meta":{"a":{"b":[true]}}}`: &acp.RequestPermissionResponse{Outcome: &acp.UnknownRequestPermissionOutcome{Type: "_x"}, Meta: acp.Meta{"a": map[string]any{"b": []any{true}}}},
	} {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(raw))
	}
}

func inf() float64 {
	f := 1e308
	return f * 10
}

// A codec that fails returns the buffer unchanged. It refuses values of other types.
func TestAppendLeavesBytes(t *testing.T) {
	codec := wire.Notification(1, acp.MethodSessionUpdate).Params
	for _, v := range []any{&acp.SessionNotification{}, (*acp.SessionNotification)(nil), nil, &acp.PromptRequest{}, acp.SessionNotification{}} {
		b, err := codec.Append([]byte("before"), v)
		assert.Equal(t, "before", string(b))
		var bad *wire.EncodeError
		assert.ErrorAs(t, err, &bad, "%T", v)
	}
	assert.True(t, codec.Is(&acp.SessionNotification{}))
	assert.False(t, codec.Is((*acp.SessionNotification)(nil)))
	assert.False(t, codec.Is(&acp.PromptRequest{}))
	assert.False(t, codec.Is(nil))
}

// Raw JSON is sent unchanged, except for line breaks.
func TestRawStaysOnOneLine(t *testing.T) {
	raw, err := json.Marshal(&acp.ToolCall{ToolCallID: "t", RawInput: json.RawMessage(" {\r\n  \"a\": \"x\\ny\"\n} ")})
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "\n")
	codec := wire.Notification(1, acp.MethodSessionUpdate).Params
	b, err := codec.Append(nil, &acp.SessionNotification{SessionID: "s", Update: &acp.ToolCall{ToolCallID: "t", RawInput: json.RawMessage(" {\r\n  \"a\": \"x\\ny\"\n} ")}})
	require.NoError(t, err)
	assert.Equal(t, `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"","rawInput":{  "a": "x\ny"}}}`, string(b))
}

// The violations of a long list fit in a short response.
func TestViolationsAreBounded(t *testing.T) {
	_, err := version.Recode(t, "PromptRequest", []byte(`{"sessionId":"s","prompt":[`+strings.Repeat(`1,`, 100_000)+`1]}`))
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 10_000)
	_, err = version.Recode(t, "TextContent", []byte(`{`+strings.Repeat(`"text":"x",`, 100_000)+`"text":"x"}`))
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 10_000)
}
