package decoder

// TwoPasses makes the decoder read what is small in two passes, too, or no longer.
func (d *Decoder) TwoPasses(on bool) { d.twoPasses = on }

// ReadAtOnce says whether the Value of the last Prepare was written by it.
func (d *Decoder) ReadAtOnce() bool { return d.readyEnd > 0 }

// SmallMost is the longest input that is read in one pass.
const SmallMost = smallMost

// Buffer returns the decoder's buffer, which it aliases.
func (d *Decoder) Buffer() []byte { return d.buffer }
