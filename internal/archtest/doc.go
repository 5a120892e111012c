// Package archtest has tests about the repository itself: which package may import which, what the service may depend
// on, that what the documents name exists. It reads the sources in this process rather than asking the go command, so
// that the test cache notices every change of them. It exports nothing.
package archtest
