// Command etcd is etcd, built of its Go module, for the tests of package schemas: they run it as a process of its own.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
