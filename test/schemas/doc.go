// Package schemas tests servers that share schemas in a real etcd, all of them processes of their own.
package schemas
