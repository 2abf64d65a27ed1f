// Command gen writes the types of package acp, their codecs and checks, and the
// method table, from the facts in internal/schema and the texts in
// internal/gen/text. It runs in the root of the module:
//
//	go run ./internal/gen
//
// Texts decide the files: what internal/gen/text/content.txt describes goes to
// acp/content_gen.go, its codec to acp/content_codec_gen.go. A type, method or
// constant without a text, a text without use, and a row of the tables of
// exceptions that nothing needs are errors.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	lenient := flag.Bool("lenient", false, "only warn of missing and unused texts")
	flag.Parse()
	if err := run(*lenient); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

const (
	factsDir = "internal/schema"
	textDir  = "internal/gen/text"
	outDir   = "acp"
)

func run(lenient bool) error {
	v, err := load(".")
	if err != nil {
		return err
	}
	if list := v.complaints(); lenient {
		for _, line := range list {
			fmt.Fprintln(os.Stderr, "gen: warning:", line)
		}
	} else if len(list) > 0 {
		return fmt.Errorf("%s", strings.Join(list, "\n     "))
	}
	files, err := v.render()
	if err != nil {
		return err
	}
	return replace(outDir, files)
}

// load reads facts and texts; root is the folder of the module.
func load(root string) (*vocabulary, error) {
	all, err := readFacts(filepath.Join(root, factsDir, "v1-unstable.json"))
	if err != nil {
		return nil, err
	}
	stable, err := readFacts(filepath.Join(root, factsDir, "v1.json"))
	if err != nil {
		return nil, err
	}
	t, err := readTexts(filepath.Join(root, textDir))
	if err != nil {
		return nil, err
	}
	return build(all, stable, t)
}

// complaints tells what texts and rows are missing or too many.
func (v *vocabulary) complaints() []string {
	var list []string
	for _, x := range v.Types {
		if x.Doc == "" {
			list = append(list, "no text for: type "+x.Def)
		}
	}
	for _, key := range v.texts.lost {
		list = append(list, "no text for: "+key)
	}
	for _, key := range v.texts.unused() {
		list = append(list, "unused text: "+key)
	}
	for _, row := range unusedRows() {
		list = append(list, "unused row: "+row)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// render returns all files by name.
func (v *vocabulary) render() (map[string][]byte, error) {
	out := map[string]*file{"methods_gen.go": {}, "cases_gen_test.go": {}}
	v.emitMethods(out["methods_gen.go"])
	v.emitCases(out["cases_gen_test.go"])
	for _, topic := range v.topics() {
		types, codecs, checks := &file{}, &file{}, &file{}
		out[topic+"_gen.go"], out[topic+"_codec_gen.go"], out[topic+"_check_gen.go"] = types, codecs, checks
		if text := v.texts.files[topic]; text != "" {
			types.doc = comment("", text) + "\n"
		}
		for _, x := range v.Types {
			if x.Topic == topic {
				v.emitType(types, x)
				v.emitDecode(codecs, x)
				v.emitEncode(codecs, x)
				v.emitJSON(codecs, x)
				v.emitCodec(codecs, x)
				emitCheck(checks, x)
			}
		}
	}
	files := map[string][]byte{}
	for name, f := range out {
		src, err := f.source()
		if err != nil {
			return nil, fmt.Errorf("formatting %s: %w", name, err)
		}
		if src != nil {
			files[name] = src
		}
	}
	return files, nil
}

// generated tells whether a file of that name is ours.
func generated(name string) bool {
	return strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "_gen_test.go")
}

// replace writes the files and deletes those of an earlier run, so that none
// outlives its topic.
func replace(dir string, files map[string][]byte) error {
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range old {
		if name := entry.Name(); generated(name) && files[name] == nil {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	for name, src := range files {
		if err := os.WriteFile(filepath.Join(dir, name), src, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (v *vocabulary) topics() []string {
	var list []string
	for _, x := range v.Types {
		if x.Topic == "" {
			x.Topic = "untold"
		}
		list = append(list, x.Topic)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
