package localfs

import "syscall"

// isPseudo reports whether the file system is devfs, which contains /dev/fd.
func isPseudo(st *syscall.Statfs_t) bool {
	var name []byte
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return string(name) == "devfs"
}
