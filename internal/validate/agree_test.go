package validate_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
)

// payloads are the params and results of all methods of both roles.
func payloads() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, role := range []reflect.Type{
		reflect.TypeFor[acp.Agent](), reflect.TypeFor[acp.Authenticator](), reflect.TypeFor[acp.LogoutHandler](),
		reflect.TypeFor[acp.SessionLoader](), reflect.TypeFor[acp.SessionResumer](), reflect.TypeFor[acp.SessionLister](),
		reflect.TypeFor[acp.SessionDeleter](), reflect.TypeFor[acp.SessionCloser](), reflect.TypeFor[acp.SessionModeSetter](),
		reflect.TypeFor[acp.SessionConfigOptionSetter](), reflect.TypeFor[acp.ProviderManager](), reflect.TypeFor[acp.SessionForker](),
		reflect.TypeFor[acp.SessionArchiver](), reflect.TypeFor[acp.SessionStatusReporter](), reflect.TypeFor[acp.SessionTitleSetter](),
		reflect.TypeFor[acp.AuthStatusReporter](), reflect.TypeFor[acp.MCPNotificationHandler](), reflect.TypeFor[acp.Client](),
		reflect.TypeFor[acp.TextFileReader](), reflect.TypeFor[acp.TextFileWriter](), reflect.TypeFor[acp.TerminalHost](),
		reflect.TypeFor[acp.Elicitor](), reflect.TypeFor[acp.ElicitationCompleter](), reflect.TypeFor[acp.AuthStatusUpdater](),
		reflect.TypeFor[acp.MCPMessageHandler](),
	} {
		for m := range role.Methods() {
			for _, x := range []reflect.Type{m.Type.In(1), m.Type.Out(0)} {
				if x.Kind() == reflect.Pointer {
					all[x.Elem().Name()] = x.Elem()
				}
			}
		}
	}
	return all
}

// codecs finds the codec of each payload.
func codecs(t *testing.T) map[string]*wire.Codec {
	t.Helper()
	all := map[string]*wire.Codec{}
	for name, x := range payloads() {
		v := reflect.New(x).Interface()
		for _, m := range wire.Methods(acp.ProtocolVersion) {
			for _, c := range []*wire.Codec{m.Params, m.Result} {
				if c != nil && c.Is(v) {
					all[name] = c
				}
			}
		}
		require.NotNil(t, all[name], "no codec for %s", name)
	}
	return all
}

// The generated check decides and validator explains; whoever reads only one of
// them must come to the same verdict.
func TestGeneratedCheckAgrees(t *testing.T) {
	all := codecs(t)
	good, bad := map[bool]int{}, map[bool]int{}
	for name, x := range payloads() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			for range 400 {
				v := reflect.New(x)
				random(t, r, v.Elem(), 6)
				for _, strict := range []bool{false, true} {
					fields := validate.Struct(v.Interface(), strict)
					valid := all[name].Valid(v.Interface(), strict)
					if valid {
						good[strict]++
					} else {
						bad[strict]++
					}
					if !assert.Equal(t, fields == nil, valid, "strict %v: %s: %v", strict, show(v.Interface()), fields) {
						return
					}
				}
			}
		})
	}
	for _, strict := range []bool{false, true} {
		assert.Greater(t, good[strict], 1000, "enough good values")
		assert.Greater(t, bad[strict], 1000, "enough bad values")
	}
}

func show(v any) string {
	return fmt.Sprintf("%#v", v)
}

// onlyEncoding are the mistakes that the encoder alone finds: no rule of a single
// member says them.
var onlyEncoding = []string{"both a result and an error", "both grouped and ungrouped", "result: missing", "missing raw JSON"}

// What validation lets through can be encoded, so that people get the tree of field
// errors for all other mistakes.
func TestValidValuesCanBeSent(t *testing.T) {
	all := codecs(t)
	sent := 0
	for name, x := range payloads() {
		r := rand.New(rand.NewPCG(2, uint64(len(name))))
		for range 400 {
			v := reflect.New(x)
			random(t, r, v.Elem(), 5)
			if validate.Struct(v.Interface(), true) != nil {
				continue
			}
			sent++
			_, err := all[name].Append(nil, v.Interface())
			excused := slices.ContainsFunc(onlyEncoding, func(part string) bool { return err != nil && strings.Contains(err.Error(), part) })
			assert.True(t, err == nil || excused, "%s: %v", name, err)
		}
	}
	assert.Greater(t, sent, 1000)
}
