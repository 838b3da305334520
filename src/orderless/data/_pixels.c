/* The two ends of resizing an image, without copies; transforms.py does the same without this file.

   Pillow keeps four bytes for a pixel of three colours. `memory` finds them where they lie, so that they can be resized
   as they are, and `normalise` makes an encoder's numbers of the result, leaving the fourth byte out. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "wide_vectors.h"

/* As the Arrow C data interface lays it down: https://arrow.apache.org/docs/format/CDataInterface.html */
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

PyDoc_STRVAR(memory_doc, "memory(arrow_array, pixels) -> memoryview\n\n\
The bytes of an image with so many pixels, four for each, from what its __arrow_c_array__ gave: good as long as that\n\
lives. Raises ValueError if they are laid out otherwise.");

static PyObject *memory(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    Py_ssize_t pixels;
    if (!PyArg_ParseTuple(args, "On", &capsule, &pixels)) return NULL;
    const struct ArrowArray *image = PyCapsule_GetPointer(capsule, "arrow_array");
    if (!image) return NULL;
    const struct ArrowArray *bytes = image->n_children == 1 ? image->children[0] : NULL;
    if (!bytes || image->offset || bytes->offset || image->length != pixels || bytes->length != 4 * pixels ||
        bytes->n_buffers != 2)
        return PyErr_SetString(PyExc_ValueError, "not four bytes a pixel"), NULL;
    return PyMemoryView_FromMemory((char *)bytes->buffers[1], 4 * pixels, PyBUF_WRITE);
}

WIDE_VECTORS static void three_apart(const uint8_t *pixels, float *place, const float *factor, const float *shift,
                                     Py_ssize_t width)
{
    Py_ssize_t i;
    for (i = 0; i < 3 * width; i++) place[i] = (float)pixels[i] * factor[i] - shift[i];
}

WIDE_VECTORS static void four_apart(const uint8_t *pixels, float *place, const float *factor, const float *shift,
                                    Py_ssize_t width)
{
    Py_ssize_t i;
    for (i = 0; i < width; i++) {
        place[3 * i] = (float)pixels[4 * i] * factor[0] - shift[0];
        place[3 * i + 1] = (float)pixels[4 * i + 1] * factor[1] - shift[1];
        place[3 * i + 2] = (float)pixels[4 * i + 2] * factor[2] - shift[2];
    }
}

PyDoc_STRVAR(normalise_doc, "normalise(pixels, place, factor, shift) -> None\n\n\
Fill place [H, W * 3] float32 with pixels * factor - shift. Pixels are bytes [H, W, 3], three or four from one to the\n\
next; factor and shift [W * 3] float32 repeat the values of the three colours. Raises ValueError for anything else.");

static int is_matrix(const Py_buffer *view, Py_ssize_t lines, Py_ssize_t width)
{
    return view->ndim == (lines ? 2 : 1) && view->format && !strcmp(view->format, "f") && view->itemsize == 4 &&
           (uintptr_t)view->buf % sizeof(float) == 0 && view->shape[view->ndim - 1] == width &&
           view->len == (lines ? lines : 1) * width * 4;
}

static PyObject *normalise(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count)
{
    static const int wanted[4] = {PyBUF_STRIDES | PyBUF_FORMAT, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE,
                                  PyBUF_C_CONTIGUOUS | PyBUF_FORMAT, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT};
    Py_buffer views[4], *pixels = views, *place = views + 1, *factor = views + 2, *shift = views + 3;
    Py_ssize_t lines, width, apart, line;
    int held, failed = 1;
    if (count != 4) return PyErr_SetString(PyExc_TypeError, "normalise takes four arrays"), NULL;
    for (held = 0; held < 4; held++)
        if (PyObject_GetBuffer(args[held], views + held, wanted[held])) goto done;
    if (pixels->ndim != 3 || !pixels->format || strcmp(pixels->format, "B") || pixels->shape[2] != 3) goto refuse;
    lines = pixels->shape[0], width = pixels->shape[1], apart = pixels->strides[1];
    if ((apart != 3 && apart != 4) || pixels->strides[0] != width * apart || pixels->strides[2] != 1) goto refuse;
    if (!is_matrix(place, lines, 3 * width) || !is_matrix(factor, 0, 3 * width) || !is_matrix(shift, 0, 3 * width))
        goto refuse;
    Py_BEGIN_ALLOW_THREADS;
    for (line = 0; line < lines; line++)
        (apart == 3 ? three_apart : four_apart)((const uint8_t *)pixels->buf + line * width * apart,
                                                (float *)place->buf + line * width * 3, factor->buf, shift->buf, width);
    Py_END_ALLOW_THREADS;
    failed = 0;
    goto done;
refuse:
    PyErr_SetString(PyExc_ValueError, "arrays of other kinds or shapes");
done:
    while (held--) PyBuffer_Release(views + held);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"memory", memory, METH_VARARGS, memory_doc},
                                {"normalise", (PyCFunction)(void (*)(void))normalise, METH_FASTCALL, normalise_doc},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_pixels", .m_doc = "Bytes of images, in C.", .m_methods = methods};

PyMODINIT_FUNC PyInit__pixels(void) { return PyModuleDef_Init(&module); }
