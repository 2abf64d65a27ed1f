package localfs

import "syscall"

// pseudo are the file systems that the kernel generates. Reading them reveals secrets of processes,
// and writing them changes the system.
var pseudo = map[int64]bool{
	0x9fa0:     true, // proc
	0x62656572: true, // sysfs
	0x64626720: true, // debugfs
	0x74726163: true, // tracefs
	0x73636673: true, // securityfs
	0xf97cff8c: true, // selinuxfs
	0x62656570: true, // configfs
	0xcafe4a11: true, // bpf
	0xde5e81e4: true, // efivarfs
	0x42494e4d: true, // binfmt_misc
	0x65735543: true, // fusectl
	0x6e736673: true, // nsfs
	0x0027e0eb: true, // cgroup
	0x63677270: true, // cgroup2
	0x1cd1:     true, // devpts
}

func isPseudo(st *syscall.Statfs_t) bool { return pseudo[int64(uint32(st.Type))] }
