// Of 16 bytes each, so that OpenGL can take them as one uniform array:
// 0: byte of pixel (0, 0), or of the buffer's first word; bytes from one row to the next, in two's complement, of a buffer its
//    bytes; width and height in pixels, of a buffer the work items and 1.
// 1: work items in one row of the grid; three zeros.
// 2 to 9: the numbers among the arguments.
@group(0) @binding(1) var<uniform> pf_launch: array<vec4<u32>, 10>;
