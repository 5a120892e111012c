package decoder

// Looked returns how many bytes of the stream were looked at, those that were looked at again included.
func (p *Parts) Looked() int64 { return p.looked }

// PatienceWindows is how many windows may be looked at in vain beyond what has come out.
const PatienceWindows = patienceWindows
