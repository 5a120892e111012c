package stream

import (
	"testing"

	"github.com/thriftpack/thriftpack/internal/leaks"
)

func TestMain(m *testing.M) {
	leaks.Main(m)
}
