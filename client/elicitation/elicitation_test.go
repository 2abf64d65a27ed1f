package elicitation_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/rpcerr"
)

const form = `{"sessionId":"s","toolCallId":"1","message":"Who?","mode":"form","requestedSchema":{"type":"object","required":["name"],"properties":{
	"name":{"type":"string","minLength":2,"maxLength":4,"pattern":"^[a-z]+$","default":"joe"},
	"age":{"type":"integer","minimum":1,"maximum":9,"default":3},
	"rate":{"type":"number","minimum":0.5,"maximum":1,"default":0.5},
	"on":{"type":"boolean","default":true},
	"one":{"type":"string","oneOf":[{"const":"a","title":"A"}]},
	"two":{"type":"string","enum":["a","b"]},
	"many":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["x","y","z"]},"default":["x"]},
	"titled":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}},
	"mail":{"type":"string","format":"email"},"uri":{"type":"string","format":"uri"},
	"date":{"type":"string","format":"date"},"time":{"type":"string","format":"date-time"},
	"odd":{"type":"hologram"}}}}`

func request(t *testing.T, raw string) *acp.CreateElicitationRequest {
	var req acp.CreateElicitationRequest
	require.NoError(t, json.Unmarshal([]byte(raw), &req))
	return &req
}

func TestCheck(t *testing.T) {
	schema := &request(t, form).Mode.(*acp.ElicitationFormMode).RequestedSchema
	type values = map[string]acp.ElicitationContentValue
	for field, c := range map[string]struct{ good, bad []acp.ElicitationContentValue }{
		"name": {[]acp.ElicitationContentValue{acp.ElicitationString("abc")},
			[]acp.ElicitationContentValue{acp.ElicitationString("a"), acp.ElicitationString("abcde"), acp.ElicitationString("A1"), acp.ElicitationInteger(1)}},
		"age": {[]acp.ElicitationContentValue{acp.ElicitationInteger(1)},
			[]acp.ElicitationContentValue{acp.ElicitationInteger(0), acp.ElicitationInteger(10), acp.ElicitationNumber(1.5)}},
		"rate": {[]acp.ElicitationContentValue{acp.ElicitationNumber(0.7), acp.ElicitationInteger(1)},
			[]acp.ElicitationContentValue{acp.ElicitationNumber(0.1), acp.ElicitationInteger(2), acp.ElicitationString("1")}},
		"on":     {[]acp.ElicitationContentValue{acp.ElicitationBoolean(false)}, []acp.ElicitationContentValue{acp.ElicitationString("yes")}},
		"one":    {[]acp.ElicitationContentValue{acp.ElicitationString("a")}, []acp.ElicitationContentValue{acp.ElicitationString("A")}},
		"two":    {[]acp.ElicitationContentValue{acp.ElicitationString("b")}, []acp.ElicitationContentValue{acp.ElicitationString("c")}},
		"many":   {[]acp.ElicitationContentValue{acp.ElicitationStrings{"x", "y"}}, []acp.ElicitationContentValue{acp.ElicitationStrings{}, acp.ElicitationStrings{"x", "y", "z"}, acp.ElicitationStrings{"w"}, acp.ElicitationString("x")}},
		"titled": {[]acp.ElicitationContentValue{acp.ElicitationStrings{"x"}, acp.ElicitationStrings{}}, []acp.ElicitationContentValue{acp.ElicitationStrings{"X"}}},
		"mail": {[]acp.ElicitationContentValue{acp.ElicitationString("a@b.c")},
			[]acp.ElicitationContentValue{acp.ElicitationString("a"), acp.ElicitationString("A <a@b.c>"), acp.ElicitationString("<a@b.c>"), acp.ElicitationString(" a@b.c")}},
		"uri":   {[]acp.ElicitationContentValue{acp.ElicitationString("https://a")}, []acp.ElicitationContentValue{acp.ElicitationString("a"), acp.ElicitationString("%zz:")}},
		"date":  {[]acp.ElicitationContentValue{acp.ElicitationString("2026-02-28")}, []acp.ElicitationContentValue{acp.ElicitationString("2026-02-30")}},
		"time":  {[]acp.ElicitationContentValue{acp.ElicitationString("2026-02-28T01:02:03Z")}, []acp.ElicitationContentValue{acp.ElicitationString("now")}},
		"odd":   {[]acp.ElicitationContentValue{acp.ElicitationString("x")}, nil},
		"other": {nil, []acp.ElicitationContentValue{acp.ElicitationString("x")}},
	} {
		for _, v := range c.good {
			assert.NoError(t, elicitation.Check(schema, values{"name": acp.ElicitationString("joe"), field: v}), field)
		}
		for _, v := range c.bad {
			var wrong *elicitation.FieldError
			if assert.ErrorAs(t, elicitation.Check(schema, values{"name": acp.ElicitationString("joe"), field: v}), &wrong, "%s %v", field, v) {
				assert.Equal(t, field, wrong.Field)
			}
		}
	}
	assert.ErrorContains(t, elicitation.Check(schema, nil), "name must be filled in")
}

func TestForms(t *testing.T) {
	var asked []*elicitation.Form
	for name, c := range map[string]struct {
		answer func(n int) (map[string]acp.ElicitationContentValue, error)
		want   acp.ElicitationAction
		asked  int
	}{
		"accepted": {func(int) (map[string]acp.ElicitationContentValue, error) {
			return map[string]acp.ElicitationContentValue{"name": acp.ElicitationString("joe")}, nil
		}, &acp.ElicitationAcceptAction{Content: map[string]acp.ElicitationContentValue{"name": acp.ElicitationString("joe")}}, 1},
		"corrected": {func(n int) (map[string]acp.ElicitationContentValue, error) {
			return map[string]acp.ElicitationContentValue{"name": acp.ElicitationString([]string{"J", "joe"}[n])}, nil
		}, &acp.ElicitationAcceptAction{Content: map[string]acp.ElicitationContentValue{"name": acp.ElicitationString("joe")}}, 2},
		"never right": {func(int) (map[string]acp.ElicitationContentValue, error) { return nil, nil }, &acp.ElicitationCancelAction{}, 5},
		"declined":    {func(int) (map[string]acp.ElicitationContentValue, error) { return nil, elicitation.ErrDeclined }, &acp.ElicitationDeclineAction{}, 1},
		"closed":      {func(int) (map[string]acp.ElicitationContentValue, error) { return nil, elicitation.ErrCancelled }, &acp.ElicitationCancelAction{}, 1},
		"failed":      {func(int) (map[string]acp.ElicitationContentValue, error) { return nil, errors.New("x") }, &acp.ElicitationCancelAction{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked = nil
			forms := &elicitation.Forms{Ask: func(_ context.Context, f *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
				copied := *f
				asked = append(asked, &copied)
				return c.answer(len(asked) - 1)
			}}
			res, err := forms.CreateElicitation(t.Context(), request(t, form))
			require.NoError(t, err)
			assert.Equal(t, c.want, res.Action)
			require.Len(t, asked, c.asked)
			assert.EqualValues(t, "s", asked[0].Session)
			assert.EqualValues(t, "1", asked[0].ToolCall)
			assert.Equal(t, "Who?", asked[0].Message)
			assert.NoError(t, asked[0].Problem)
			if c.asked > 1 {
				assert.Error(t, asked[1].Problem)
			}
		})
	}
}

func TestPages(t *testing.T) {
	const page = `{"requestId":7,"message":"Sign in","mode":"url","elicitationId":"e","url":"https://example.com/x?y"}`
	var seen *elicitation.Page
	answer := error(nil)
	var done acp.ElicitationID
	part := &elicitation.FormsAndPages{
		Open:      func(_ context.Context, p *elicitation.Page) error { seen = p; return answer },
		Completed: func(id acp.ElicitationID) { done = id },
	}
	res, err := part.CreateElicitation(t.Context(), request(t, page))
	require.NoError(t, err)
	assert.Equal(t, &acp.ElicitationAcceptAction{}, res.Action)
	assert.Equal(t, &elicitation.Page{ID: "e", Message: "Sign in", URL: "https://example.com/x?y", Host: "example.com"}, seen)
	answer = elicitation.ErrDeclined
	res, err = part.CreateElicitation(t.Context(), request(t, page))
	require.NoError(t, err)
	assert.Equal(t, &acp.ElicitationDeclineAction{}, res.Action)
	require.NoError(t, part.CompleteElicitation(t.Context(), &acp.CompleteElicitationNotification{ElicitationID: "e"}))
	assert.EqualValues(t, "e", done)
	require.NoError(t, (&elicitation.FormsAndPages{}).CompleteElicitation(t.Context(), &acp.CompleteElicitationNotification{}))

	for _, url := range []string{"file:///etc/passwd", "javascript:alert(1)", "https://", "ftp://example.com/x"} {
		req := request(t, page)
		req.Mode.(*acp.ElicitationURLMode).URL = url
		_, err = part.CreateElicitation(t.Context(), req)
		assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, url)
	}
	_, err = (&elicitation.Forms{}).CreateElicitation(t.Context(), request(t, page))
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, "pages were not advertised")
	_, err = part.CreateElicitation(t.Context(), &acp.CreateElicitationRequest{Mode: &acp.UnknownElicitationMode{Type: "x"}})
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
}

// The completion of a page is reported once, and only if the user has opened the page.
func TestCompletedPages(t *testing.T) {
	var done []acp.ElicitationID
	var answer error
	var part *elicitation.FormsAndPages
	complete := func(id acp.ElicitationID) {
		require.NoError(t, part.CompleteElicitation(t.Context(), &acp.CompleteElicitationNotification{ElicitationID: id}))
	}
	early := acp.ElicitationID("")
	part = &elicitation.FormsAndPages{
		Open: func(_ context.Context, p *elicitation.Page) error {
			if p.ID == early {
				complete(early)
			}
			return answer
		},
		Completed: func(id acp.ElicitationID) { done = append(done, id) },
	}
	open := func(id acp.ElicitationID) {
		_, err := part.CreateElicitation(t.Context(), &acp.CreateElicitationRequest{Mode: &acp.ElicitationURLMode{
			ElicitationID: id, URL: "https://example.com", Scope: &acp.ElicitationSessionScope{SessionID: "s"}}})
		require.NoError(t, err)
	}
	complete("never opened")
	assert.Empty(t, done)
	open("a")
	complete("b")
	complete("a")
	complete("a")
	assert.Equal(t, []acp.ElicitationID{"a"}, done)
	early = "early"
	open(early)
	complete(early)
	assert.Equal(t, []acp.ElicitationID{"a", early}, done)
	answer = elicitation.ErrDeclined
	open("declined")
	complete("declined")
	assert.Equal(t, []acp.ElicitationID{"a", early}, done)
}

// The agent withdraws its request before the user has answered.
func TestValuesThatComeLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := 0
	for _, values := range []map[string]acp.ElicitationContentValue{{"name": acp.ElicitationString("joe")}, nil} {
		forms := &elicitation.Forms{Ask: func(context.Context, *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
			cancel()
			asked++
			return values, nil
		}}
		res, err := forms.CreateElicitation(ctx, request(t, form))
		require.NoError(t, err)
		assert.Equal(t, &acp.ElicitationCancelAction{}, res.Action)
	}
	assert.Equal(t, 2, asked, "no one is asked again about a request that is over")
}
