// Command gen writes the vocabulary of each version of the protocol (types, codecs,
// checks, roles, capabilities and the method table), and what the two ends have for each
// method (the call, the row of the handler, the capability). It reads the facts in
// internal/schema, the texts in internal/gen/text and the tables in shared.go and the
// files named after the versions. It runs in its folder, a module of its own that requires nothing but what
// its tests need, so that nothing is downloaded for it:
//
//	go -C internal/gen run .
//
// The texts decide the files of the types: what internal/gen/text/v1/content.txt describes
// goes to acp/content_gen.go. A type, method or constant without a text, a text without
// use, and a row of the tables that nothing needs are errors.
//
//	go -C internal/gen run . drift OLD NEW
//
// prints what the schema files in the folder NEW change compared with those in OLD.
//
// A new method is one row in the methods of its version, with three texts: what it is
// ("method"), for those who implement it ("handle") and for those who call it ("call"),
// and one for its role if that is new.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	do := run
	if len(os.Args) == 4 && os.Args[1] == "drift" {
		do = func() error {
			list, err := drift(os.Args[2], os.Args[3])
			for _, line := range list {
				fmt.Println(line)
			}
			return err
		}
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// root is the folder of the main module.
const root = "../.."

const factsDir = "internal/schema"

func run() error {
	for _, ver := range versions {
		v, err := ver.load(root)
		if err != nil {
			return err
		}
		files, err := v.render()
		if err != nil {
			return err
		}
		if list := v.faults(); len(list) > 0 {
			return fmt.Errorf("%s", strings.Join(list, "\n     "))
		}
		if err := ver.replace(root, files); err != nil {
			return err
		}
	}
	return nil
}

// faults lists missing texts, unused texts and unused rows.
func (v *vocabulary) faults() []string {
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
	for _, row := range v.tables.unused() {
		list = append(list, "unused row: "+row)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// vocabularyFiles returns the files of the vocabulary by name.
func (v *vocabulary) vocabularyFiles() map[string]*file {
	out := map[string]*file{}
	add := func(name string, emit func(*file)) {
		out[name] = &file{}
		emit(out[name])
	}
	add("methods_gen.go", v.emitMethods)
	add("agent_gen.go", func(f *file) { v.emitRoles(f, "Agent") })
	add("client_gen.go", func(f *file) { v.emitRoles(f, "Client") })
	add("capability_gen.go", v.emitHas)
	add("cases_gen_test.go", v.emitCases)
	aliases, decoders, encoders := &file{}, &file{}, &file{}
	out["alias_gen.go"], out["decode_gen.go"], out["encode_gen.go"] = aliases, decoders, encoders
	for _, x := range v.Types {
		if out[x.Topic+"_gen.go"] == nil {
			out[x.Topic+"_gen.go"] = &file{}
		}
		if x.Codec || !x.Alias {
			v.emitDecode(decoders, x)
			emitCheck(decoders, x)
			v.emitEncode(encoders, x)
		}
		if x.Alias {
			v.emitAlias(aliases, x)
		} else {
			v.emitType(out[x.Topic+"_gen.go"], x)
			v.emitJSON(encoders, x)
			v.emitCodec(decoders, x)
		}
	}
	return out
}

func generated(name string) bool {
	return strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "_gen_test.go")
}
