package repocheck_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documents returns the pages of the repository that people read.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	pages := map[string][]byte{}
	for _, pattern := range []string{"*.md", "docs/*.md", "rpcerr/*.md", "rpcerr/*/*.md", "examples/*.md", "examples/*/*.md", "internal/bench/*.md"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			pages[filepath.ToSlash(name)] = text
		}
	}
	require.Contains(t, pages, "README.md")
	return pages
}

// Programs on a page are files that are compiled and run. A block of Go code follows a
// comment that names the file, and after it the function whose body is shown, if it is
// not the whole file.
func TestDocumentsShowFiles(t *testing.T) {
	block := regexp.MustCompile("(?s)<!-- file: (\\S+?)(?:#(\\S+))? -->\n```go\n(.*?)```")
	for page, text := range documents(t) {
		for _, m := range block.FindAllSubmatch(text, -1) {
			name, function := string(m[1]), string(m[2])
			want, err := os.ReadFile(name)
			require.NoError(t, err)
			if function != "" {
				want = body(t, name, want, function)
			}
			assert.Equal(t, string(want), string(m[3]), "%s: %s %s differs from what the page shows", page, name, function)
		}
	}
}

// all returns the first group of each match.
func all(matches [][]string) []string {
	var groups []string
	for _, m := range matches {
		groups = append(groups, m[1])
	}
	return groups
}

// A block of Go code in a guide that no file holds would rot.
func TestGuidesShowOnlyFiles(t *testing.T) {
	for page, text := range documents(t) {
		if strings.HasPrefix(page, "docs/guide-") {
			blocks := bytes.Count(text, []byte("```go\n"))
			assert.Len(t, regexp.MustCompile("<!-- file: \\S+ -->\n```go\n").FindAll(text, -1), blocks, "%s: say which file a block is from", page)
		}
	}
}

// body returns a function as a page shows it: a type or function by name with its
// declaration, an example by what is between its braces, without the expected output.
func body(t *testing.T, name string, src []byte, function string) []byte {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, src, parser.ParseComments)
	require.NoError(t, err)
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Name.Name != function {
			continue
		}
		if !strings.HasPrefix(function, "Example") {
			return append(src[offset(d.Pos()):offset(d.End())], '\n')
		}
		text := src[offset(d.Body.Lbrace)+2 : offset(d.Body.Rbrace)]
		if i := bytes.Index(text, []byte("\t// Output:")); i >= 0 {
			text = text[:i]
		}
		lines := bytes.SplitAfter(bytes.TrimRight(text, "\n\t"), []byte("\n"))
		for i := range lines {
			lines[i] = bytes.TrimPrefix(lines[i], []byte("\t"))
		}
		return append(bytes.Join(lines, nil), '\n')
	}
	require.Fail(t, "no such function", "%s in %s", function, name)
	return nil
}

// The first page is read to its end only if it is short: tables are in docs.
func TestReadmeIsShort(t *testing.T) {
	assert.LessOrEqual(t, bytes.Count(documents(t)["README.md"], []byte("\n")), 250)
}

// What is not released cannot be installed by its path.
func TestInstallSaysFromWhichVersionOn(t *testing.T) {
	texts := documents(t)
	eachSource(t, func(s *source) {
		if !s.test {
			texts[s.path] = s.text
		}
	})
	delete(texts, "CHANGELOG.md") // its table says it where it is needed
	found := 0
	for page, text := range texts {
		for _, at := range regexp.MustCompile(`go-sdk[\w/-]*@latest`).FindAllIndex(text, -1) {
			found++
			around := text[max(0, at[0]-300):min(len(text), at[1]+300)]
			assert.Contains(t, string(around), "from v0.1.0 on", "%s: %s", page, text[at[0]:at[1]])
		}
	}
	assert.NotZero(t, found)
}

// A link to a file that is not there helps no one.
func TestDocumentLinks(t *testing.T) {
	code := regexp.MustCompile("(?s)\n```.*?\n```|`[^`\n]*`")
	for page, text := range documents(t) {
		text = code.ReplaceAll(text, nil)
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), string(link[1])))
			assert.NoError(t, err, "%s links to %s", page, link[1])
		}
	}
}

// A page that names something which has another name by now misleads. Each name of a
// package in the code of a page, such as `client.Options.Logger`, is an exported name of
// it, and so is each field of a literal. Packages with the same name, such as those of
// two versions, count as one. The list of changed names has the old ones, too.
func TestDocumentsNameWhatExists(t *testing.T) {
	names := exportedNames(t)
	code := regexp.MustCompile("`([^`\n]+)`")
	name := regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	literal := regexp.MustCompile(`&?\b([a-z]\w*)\.([A-Z]\w*)\{([^{}]+)`)
	field := regexp.MustCompile(`\b([A-Z]\w*):`)
	checked := 0
	for page, text := range documents(t) {
		text, _, _ = bytes.Cut(text, []byte("\n### Names that changed before v0.1.0\n"))
		for _, span := range all(stringMatches(code, text)) {
			for _, m := range name.FindAllStringSubmatch(span, -1) {
				members, ok := names[m[1]]
				if !ok {
					continue // not a package of this module
				}
				checked++
				if assert.Contains(t, members, m[2], "%s: %s", page, span) && m[3] != "" && len(members[m[2]]) > 0 {
					assert.Contains(t, members[m[2]], m[3], "%s: %s", page, span)
				}
			}
			for _, m := range literal.FindAllStringSubmatch(span, -1) {
				for _, f := range all(field.FindAllStringSubmatch(m[3], -1)) {
					assert.Contains(t, names[m[1]][m[2]], f, "%s: %s", page, span)
				}
			}
		}
	}
	assert.Greater(t, checked, 300)
}

func stringMatches(re *regexp.Regexp, text []byte) [][]string {
	return re.FindAllStringSubmatch(string(text), -1)
}

// exportedNames returns the exported names of each public package and, of types, their
// exported methods and fields.
func exportedNames(t *testing.T) map[string]map[string]map[string]bool {
	t.Helper()
	names := map[string]map[string]map[string]bool{}
	eachSource(t, func(s *source) {
		if !s.public() {
			return
		}
		pkg := names[s.file.Name.Name]
		if pkg == nil {
			pkg = map[string]map[string]bool{}
			names[s.file.Name.Name] = pkg
		}
		add := func(name, member string) {
			if pkg[name] == nil {
				pkg[name] = map[string]bool{}
			}
			if member != "" {
				pkg[name][member] = true
			}
		}
		for name, node := range declared(s.file) {
			owner, method, _ := strings.Cut(name, ".")
			add(owner, method)
			if spec, ok := node.(*ast.TypeSpec); ok {
				for _, member := range memberNames(spec.Type) {
					add(name, member)
				}
			}
		}
	})
	return names
}

// declared returns what a file declares, by name. The name of a method follows that of its receiver
// and a dot.
func declared(file *ast.File) map[string]ast.Node {
	nodes := map[string]ast.Node{}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiverName(d) + "." + name
			}
			nodes[name] = d
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					nodes[spec.Name.Name] = spec
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						nodes[name.Name] = spec
					}
				}
			}
		}
	}
	return nodes
}

// docs/types.md names every interface of a vocabulary and the params of every method, from which all other types can
// be reached. Every name in it exists.
func TestTypesByTask(t *testing.T) {
	page, err := os.ReadFile("docs/types.md")
	require.NoError(t, err)
	first, second, ok := strings.Cut(string(page), "## Version 2")
	require.True(t, ok)
	for pkg, part := range map[string]string{"acp": first, "draft2/acp": second} {
		listed := all(stringMatches(regexp.MustCompile("`([A-Z]\\w+)`"), []byte(part)))
		exists := map[string]bool{}
		eachSource(t, func(s *source) {
			if s.pkg != pkg || s.test {
				return
			}
			for name, node := range declared(s.file) {
				exists[name] = true
				if spec, ok := node.(*ast.TypeSpec); ok && ast.IsExported(name) && name != "Agent" && name != "Client" {
					_, iface := spec.Type.(*ast.InterfaceType)
					if iface || strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Notification") {
						assert.Contains(t, listed, name, "docs/types.md does not list it for %s", pkg)
					}
				}
			}
		})
		for _, name := range listed {
			assert.True(t, exists[name], "docs/types.md lists %s for %s, which does not exist", name, pkg)
		}
	}
}

// A comment that names something which has another name by now misleads as a page does. Links of doc comments, names
// of a package of this module such as client.Options, and fields of options, also in the texts of errors, exist.
func TestCommentsNameWhatExists(t *testing.T) {
	public, own := exportedNames(t), map[string]map[string]map[string]bool{}
	eachSource(t, func(s *source) {
		pkg := own[s.pkg]
		if pkg == nil {
			pkg = map[string]map[string]bool{}
			own[s.pkg] = pkg
		}
		for name, node := range declared(s.file) {
			owner, member, _ := strings.Cut(name, ".")
			if pkg[owner] == nil {
				pkg[owner] = map[string]bool{}
			}
			pkg[owner][member] = true
			if spec, ok := node.(*ast.TypeSpec); ok {
				for _, member := range memberNames(spec.Type) {
					pkg[owner][member] = true
				}
				pkg[owner]["*"] = pkg[owner]["*"] || embeds(spec.Type) // has members of other types
			}
		}
	})
	has := func(names map[string]map[string]bool, name, member string) bool {
		members, ok := names[name]
		return ok && (member == "" || members[member] || members["*"] || len(members) == 0)
	}
	anywhere := map[string]map[string]bool{} // the fields of the options of all packages
	for _, pkg := range own {
		for name, members := range pkg {
			if strings.HasSuffix(name, "Options") {
				if anywhere[name] == nil {
					anywhere[name] = map[string]bool{}
				}
				maps.Copy(anywhere[name], members)
				delete(anywhere[name], "*")
			}
		}
	}
	link := regexp.MustCompile(`\[\*?([A-Z]\w*[a-z]\w*)(?:\.([A-Z]\w*))?\]`)
	field := regexp.MustCompile(`(?:^|[^.\w])(\w*Options)\.([A-Z]\w*)`)
	qualified := regexp.MustCompile(`(?:^|[^./\w-])([a-z]\w+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	checked := 0
	eachSource(t, func(s *source) {
		if s.test {
			return
		}
		look := func(at ast.Node, text string, names *regexp.Regexp) {
			for _, m := range names.FindAllStringSubmatch(text, -1) {
				found := true
				switch names {
				case link:
					found = has(own[s.pkg], m[1], m[2])
				case field: // of this package, or of those that it serves
					found = has(own[s.pkg], m[1], m[2]) || own[s.pkg][m[1]] == nil && has(anywhere, m[1], m[2])
				case qualified:
					pkg, known := public[m[1]]
					found = !known || has(pkg, m[2], m[3])
				}
				checked++
				assert.True(t, found, "%s names %s, which does not exist", fset.Position(at.Pos()), strings.TrimSpace(m[0]))
			}
		}
		for _, group := range s.file.Comments {
			look(group, group.Text(), link)
			look(group, group.Text(), field)
			look(group, group.Text(), qualified)
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				look(n, text.Value, field)
			}
			return true
		})
	})
	assert.Greater(t, checked, 1000)
}

func embeds(expr ast.Expr) bool {
	var fields *ast.FieldList
	switch x := expr.(type) {
	case *ast.StructType:
		fields = x.Fields
	case *ast.InterfaceType:
		fields = x.Methods
	default:
		return true // its members are those of another type
	}
	for _, f := range fields.List {
		if len(f.Names) == 0 {
			return true
		}
	}
	return false
}

func memberNames(expr ast.Expr) (list []string) {
	var fields *ast.FieldList
	switch x := expr.(type) {
	case *ast.StructType:
		fields = x.Fields
	case *ast.InterfaceType:
		fields = x.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		for _, name := range f.Names {
			list = append(list, name.Name)
		}
	}
	return list
}

// A page that sends a reader to a file which has been renamed wastes their time. Each
// `path/file.go` in a page is there, below the root or in the folder that the page's line
// names before it; a bare name is that of some file.
func TestDocumentsNameFilesThatExist(t *testing.T) {
	bases := map[string]bool{}
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			bases[d.Name()] = true
		}
		return err
	})
	require.NoError(t, err)
	code := regexp.MustCompile("`([^`\n ]+)`")
	checked := 0
	for page, text := range documents(t) {
		switch page {
		case "docs/comparison.md", "docs/coming-from-coder.md": // files of other projects
			continue
		case "CHANGELOG.md": // files that are gone
			continue
		}
		for _, span := range all(stringMatches(code, text)) {
			span = strings.TrimPrefix(span, "./")
			inTree := regexp.MustCompile(`^(acp|acptest|agent|client|cmd|draft2|stream|rpcerr|internal|examples|docs|\.ci|\.github)/[\w./-]+$`).MatchString(span)
			switch {
			case inTree && !strings.HasSuffix(span, "/vX.Y.Z"): // which is a tag
				_, err := os.Stat(strings.TrimSuffix(span, "/..."))
				assert.NoError(t, err, "%s: %s", page, span)
			case regexp.MustCompile(`^[a-z][\w/-]*\.go$`).MatchString(span):
				assert.True(t, bases[path.Base(span)], "%s: no file is called %s", page, span)
			default:
				continue
			}
			checked++
		}
	}
	assert.Greater(t, checked, 150)
}

// In docs/architecture.md a bare name is that of a file in one of the folders that its line
// has named before.
func TestArchitectureNamesFilesInTheirFolders(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	named := regexp.MustCompile("`([a-z]\\w*\\.go)`|`((?:internal|acp|acptest|agent|client|cmd|draft2|stream|rpcerr)/[\\w/.-]*)`|\\]\\(\\.\\./([\\w/.-]+)\\)")
	checked := 0
	for line := range strings.Lines(string(text)) {
		folders := map[string]bool{}
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			if m[1] == "" {
				name := m[2] + m[3]
				info, err := os.Stat(name)
				if assert.NoError(t, err) && !info.IsDir() {
					name = path.Dir(name)
				}
				folders[name] = true
				continue
			}
			found := len(folders) == 0 // a file that several packages have
			for folder := range folders {
				_, err := os.Stat(filepath.Join(folder, m[1]))
				found = found || err == nil
			}
			assert.True(t, found, "%s is in none of the folders that are named before it: %s", m[1], line)
			checked++
		}
	}
	assert.Greater(t, checked, 40)
}
