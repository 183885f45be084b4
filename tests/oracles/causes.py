"""Every cause for which a result may differ from another library's. A difference without one of these is a failure, and
so is a cause that explains nothing any more."""

CAUSES = {
    # sums
    "order of additions": "float sums in another order or precision: within a rounding a tap of the sum of magnitudes",
    "ties to even": "OpenCV rounds halves to even; rounding nearest takes them up",
    "32-bit sums": "OpenCV sums i32 in 32 bits, which overflow, and divides in f32",
    "f32 sums": "OpenCV sums integers in f32, which holds 24 bits",
    "one more": "OpenCV's blur of u8 over a power of two of pixels adds one to their sum",
    "Fourier": "OpenCV's filter2D goes through a Fourier transform from 50 taps on (130 for some types)",
    "truncated passes": "SciPy truncates each pass of uniform_filter and gaussian_filter on integers toward zero",
    "C conversion": "SciPy cuts toward zero and wraps where the type cannot hold the result; we round and saturate",
    "wrapped difference": "SciPy and scikit-image wrap a difference that the type cannot hold; we saturate",
    "wrapped sum": "scikit-image's rank.sum wraps to the image's type; we saturate",
    # gaussians
    "fixed point": "our Gaussian of u8 is within 1 of the rounded exact result",
    "OpenCV's fixed point": "OpenCV's Gaussian of u8 and u16 has weights of few bits: within 2",
    "support": "SciPy's Gaussian reaches truncate * sigma rounded, ours the next whole number above",
    # NaN and zeros
    "signed zeros": "SciPy holds -0 and +0 to be equal; for us -0 is lower",
    "NaN in order": "SciPy's order filters leave the place of a NaN undefined; for us it is the highest",
    "NaN spreads": "SciPy's running sums spread a NaN or an infinity along the line; ours stays in its window",
    # borders and windows
    "reflect from afar": "SciPy 1.10 reads reflect wrongly once the radius is four times the image's side",
    "no infinity": "OpenCV's outside of float images is the largest finite value, ours the infinity",
    "one larger window": "OpenCV does the iterations of a whole rectangle as one larger window: others outside",
    "turned dilation": "SciPy and scikit-image turn the window of a dilation by 180 degrees",
    "nothing turned": "OpenCV turns no window between the passes of open and close: those without symmetry shift",
    "even footprints": "scikit-image anchors footprints with an even side a pixel earlier, and replicates the edge",
    "outside ignored": "scikit-image's rank filters leave out what lies outside the image",
    # shapes
    "OpenCV's ellipse": "OpenCV rounds the half axis of each row of an ellipse",
    "disk": "scikit-image's disk ends at the centres of its outermost pixels, our ellipse at their edges",
}
