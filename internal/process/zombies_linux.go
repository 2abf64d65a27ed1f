package process

import (
	"bytes"
	"os"
	"strconv"
)

// onlyZombies reports whether all processes of a group have ended, but nothing has waited for them.
// In a container without an init process, nothing ever does.
func onlyZombies(pgid int) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return false
	}
	found := false
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has just ended
		}
		// The line is "pid (name) state ppid pgrp ...", and the name may contain any character.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(pgid) {
			continue
		}
		if state := fields[0][0]; state != 'Z' && state != 'X' {
			return false
		}
		found = true
	}
	return found
}
