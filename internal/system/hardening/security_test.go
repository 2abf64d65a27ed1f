package hardening_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/stream"
)

// limitRow is a row of the table of limits.
type limitRow struct{ what, value, option, beyond string }

func limitRows(t *testing.T) []limitRow {
	t.Helper()
	text, err := os.ReadFile("../../../SECURITY.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "## Limits")
	require.True(t, found)
	var rows []limitRow
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[0], "---") || strings.Contains(cells[0], "what") && strings.Contains(cells[1], "default") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, limitRow{cells[0], cells[1], cells[2], cells[3]})
	}
	require.Greater(t, len(rows), 15)
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

// Every option that the table names exists, and every limit is in the table.
func TestTableOfLimitsNamesOptions(t *testing.T) {
	options := map[string]reflect.Type{
		"stream.LinesOptions": reflect.TypeFor[stream.LinesOptions](), "stream.CommandOptions": reflect.TypeFor[stream.CommandOptions](),
		"client.Options": reflect.TypeFor[client.Options](), "classify.ResponseOptions": reflect.TypeFor[classify.ResponseOptions](),
		"Limits": reflect.TypeFor[acp.Limits](), "exec.Cmd": reflect.TypeFor[exec.Cmd](),
		"stream.SignalOptions": reflect.TypeFor[stream.SignalOptions](),
		"files.Options":        reflect.TypeFor[files.Options](), "terminals.Options": reflect.TypeFor[terminals.Options](),
	}
	functions := map[string]any{"stream.Lines": stream.Lines, "stream.StdioLines": stream.StdioLines} // that take options
	named := map[string]bool{}
	for _, row := range limitRows(t) {
		in := ""
		for _, name := range quoted.FindAllStringSubmatch(row.option, -1) {
			if functions[name[1]] != nil {
				continue
			}
			i := strings.LastIndexByte(name[1], '.')
			if i >= 0 {
				in = name[1][:i]
			}
			field := name[1][i+1:]
			if assert.Contains(t, options, in, row.option) {
				_, has := options[in].FieldByName(field)
				assert.True(t, has, "%s has no field %s", in, field)
				named[in+"."+field] = true
			}
		}
		assert.True(t, in != "" || row.option == "fixed", "%s: %s", row.what, row.option)
		assert.NotEmpty(t, row.beyond)
	}
	for field := range options["Limits"].Fields() {
		assert.True(t, named["Limits."+field.Name], "the table does not tell of Limits.%s", field.Name)
	}
}

// amount finds a number with its unit: 64 MiB, 5 s, 1024.
var amount = regexp.MustCompile(`\b([0-9]+( (KiB|MiB|GiB|s)\b)?)`)

// The defaults of the table are those that the comments of the options tell.
// (Package rpc compares them with the values.)
func TestTableOfLimitsTellsDefaults(t *testing.T) {
	told := map[string]string{}
	for pkg, types := range map[string][]string{
		"acp": {"Limits"}, "client": {"Options"}, "stream": {"CommandOptions", "LinesOptions", "SignalOptions"},
		"client/files": {"Options"}, "client/terminals": {"Options"},
	} {
		for _, name := range types {
			for field, text := range fieldComments(t, "../../../"+pkg, name) {
				told[path.Base(pkg)+"."+name+"."+field] = text
			}
		}
	}
	checked := 0
	for _, row := range limitRows(t) {
		option := quoted.FindStringSubmatch(row.option)
		if option == nil {
			continue
		}
		want := amount.FindString(row.value)
		require.NotEmpty(t, want, row.what)
		name := option[1]
		if strings.HasPrefix(name, "Limits.") {
			name = "acp." + name
		}
		switch name {
		case "stream.LinesOptions.MaxMessage":
			assert.Equal(t, want, fmt.Sprintf("%d MiB", stream.DefaultMaxMessage>>20), row.what)
		case "classify.ResponseOptions.BodyLimit":
			assert.Equal(t, want, "4 KiB", row.what)
		case "exec.Cmd.WaitDelay": // stream.Command tells its default
			assert.Equal(t, "1 s", want)
		default:
			assert.Contains(t, told[name], want, "the comment of %s", name)
		}
		checked++
	}
	assert.Greater(t, checked, 10)
	for _, row := range limitRows(t) {
		switch row.what {
		case "nesting of a message":
			assert.Equal(t, fmt.Sprintf("%d levels", envelope.MaxDepth), row.value)
		case "an id":
			assert.Equal(t, fmt.Sprintf("%d KiB", envelope.MaxID>>10), row.value)
		}
	}
}

// fieldComments returns the comments of the fields of a struct of the package in dir, by their
// names.
func fieldComments(t *testing.T, dir, name string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	require.NoError(t, err)
	comments := map[string]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				return true
			}
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				for _, id := range field.Names {
					comments[id.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
				}
			}
			return false
		})
	}
	require.NotEmpty(t, comments, "%s of %s", name, dir)
	return comments
}
