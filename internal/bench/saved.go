package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// measurement is one line of a file that -json writes.
type measurement struct {
	Key    Key         `json:"key"`
	Round  int         `json:"round"`
	Result work.Result `json:"result"`
}

// save writes every measurement as one line of JSON.
func (r Results) save(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	for k, all := range r {
		for i, res := range all {
			if err := enc.Encode(measurement{k, i, res}); err != nil {
				f.Close()
				return err
			}
		}
	}
	return f.Close()
}

// load adds the measurements that save wrote of all cells that r does not have.
func (r Results) load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	saved := Results{}
	for dec := json.NewDecoder(f); ; {
		var m measurement
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		saved[m.Key] = append(saved[m.Key], m.Result)
	}
	for k, all := range saved {
		if len(r[k]) == 0 {
			r[k] = all
		}
	}
	return nil
}
