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
	all, err := readFacts(filepath.Join(factsDir, "v1-unstable.json"))
	if err != nil {
		return err
	}
	stable, err := readFacts(filepath.Join(factsDir, "v1.json"))
	if err != nil {
		return err
	}
	t, err := readTexts(textDir)
	if err != nil {
		return err
	}
	v, err := build(all, stable, t)
	if err != nil {
		return err
	}
	if err := v.complaints(lenient); err != nil {
		return err
	}
	if err := removeOld(); err != nil {
		return err
	}
	return v.emit()
}

// complaints tells what texts and rows are missing or too many.
func (v *vocabulary) complaints(lenient bool) error {
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
	if rows := unusedRows(); len(rows) > 0 {
		list = append(list, "unused rows: "+strings.Join(rows, ", "))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if lenient {
		for _, line := range list {
			fmt.Fprintln(os.Stderr, "gen: warning:", line)
		}
		return nil
	}
	if len(list) > 0 {
		return fmt.Errorf("%s", strings.Join(list, "\n     "))
	}
	return nil
}

// removeOld deletes what an earlier run wrote, so that no file outlives its topic.
func removeOld() error {
	old, err := filepath.Glob(filepath.Join(outDir, "*_gen.go"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// emit writes all files.
func (v *vocabulary) emit() error {
	for _, topic := range v.topics() {
		types, codecs, checks := &file{}, &file{}, &file{}
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
		if err := types.write(outDir, topic+"_gen.go"); err != nil {
			return err
		}
		if err := codecs.write(outDir, topic+"_codec_gen.go"); err != nil {
			return err
		}
		if err := checks.write(outDir, topic+"_check_gen.go"); err != nil {
			return err
		}
	}
	table := &file{}
	v.emitMethods(table)
	if err := table.write(outDir, "methods_gen.go"); err != nil {
		return err
	}
	cases := &file{}
	v.emitCases(cases)
	return cases.write(outDir, "cases_gen_test.go")
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
