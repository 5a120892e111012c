package jsonvalue

// SpillOf returns what a writer has of its last output.
func SpillOf(w *Writer) []byte { return w.out.spill[:] }
