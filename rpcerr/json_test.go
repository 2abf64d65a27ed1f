package rpcerr_test

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestUnmarshal(t *testing.T) {
	for in, want := range map[string]string{
		`{"code":500,"message":"x"}`:                               `{"code":500,"message":"x"}`,
		`{"code":-3.2e4,"message":"x","data":null}`:                `{"code":-32000,"message":"x"}`,
		`{"code":1,"message":"","data":false,"name":"E"}`:          `{"code":1,"message":"code 1","data":false}`,
		`{"code":1,"message":"x","Code":2,"data":{"a": "\u003c"}}`: `{"code":1,"message":"x","data":{"a":"<"}}`,
	} {
		var e rpcerr.RequestError
		require.NoError(t, json.Unmarshal([]byte(in), &e), in)
		b, err := json.Marshal(e)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(b), in)
	}
	for _, in := range []string{
		`[]`, `"x"`, `{}`, `{"code":1}`, `{"message":"x"}`, `{"code":1,"message":null}`, `{"code":1,"message":5}`,
		`{"code":"1","message":"x"}`, `{"code":1.5,"message":"x"}`, `{"code":2147483648,"message":"x"}`, `{"code":null,"message":"x"}`,
		`{"Code":1,"Message":"x"}`,
	} {
		e := rpcerr.RequestError{Code: 9}
		assert.Error(t, json.Unmarshal([]byte(in), &e), in)
		assert.Equal(t, rpcerr.Code(9), e.Code, "left alone: %s", in)
	}
}

func TestMarshalRefusesBadData(t *testing.T) {
	_, err := json.Marshal(rpcerr.InternalError(func() {}))
	assert.Error(t, err)
	_, err = json.Marshal(rpcerr.InternalError(json.RawMessage(`{`)))
	assert.Error(t, err)
}

// Whatever decodes encodes again, and to something that decodes to the same; and another
// JSON library reads the same in it.
func FuzzRequestErrorJSON(f *testing.F) {
	f.Add([]byte(`{"code":-32602,"message":"Invalid params","data":{"_errors":[]}}`))
	for _, raw := range seed.Errors(f) {
		f.Add(raw)
	}
	f.Add([]byte(`{"code":1e3,"message":"\ud800","data":[1,null]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var e, back rpcerr.RequestError
		if json.Unmarshal(in, &e) != nil {
			// Then the other library does not find an error in it either.
			var other struct {
				Code    *int32  `json:"code"`
				Message *string `json:"message"`
			}
			if jsonv2.Unmarshal(in, &other, jsontext.AllowInvalidUTF8(true)) == nil {
				require.True(t, other.Code == nil || other.Message == nil, "%q", in)
			}
			return
		}
		once, err := json.Marshal(e)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(once, &back))
		twice, err := json.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, string(once), string(twice))
		assert.Equal(t, e.Code, back.Code)

		var other map[string]jsontext.Value
		require.NoError(t, jsonv2.Unmarshal(in, &other, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)))
		var message string
		require.NoError(t, jsonv2.Unmarshal(other["message"], &message, jsontext.AllowInvalidUTF8(true)))
		assert.Equal(t, message, e.Message)
		var code float64
		require.NoError(t, jsonv2.Unmarshal(other["code"], &code))
		assert.Equal(t, code, float64(e.Code))
		if data := other["data"]; len(data) == 0 || data.Kind() == 'n' {
			assert.Nil(t, e.Data)
		} else {
			assert.Equal(t, string(data), string(e.Data.(json.RawMessage)))
		}
	})
}
