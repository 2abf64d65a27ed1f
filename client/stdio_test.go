package client_test

const playAgent = "ACPKIT_TEST_PLAY_AGENT"

func serveStdio() {}
