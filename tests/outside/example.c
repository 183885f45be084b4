#include <stdio.h>
#include <tilewise.h>

int main(void)
{
    uint8_t pixels[5 * 5] = {[12] = 255}, means[5 * 5];
    tw_image src = {pixels, 5, 5, 5, 1, TW_U8, TW_HOST}, dst = src;
    tw_context *context = NULL;
    dst.data = means;
    if (tw_context_create(NULL, &context) != TW_OK || tw_box(context, &src, &dst, NULL) != TW_OK)
        return fprintf(stderr, "%s\n", tw_error_message()), 1;
    printf("%d %d\n", means[12], means[0]); /* 28 0 */
    tw_context_destroy(context);
    return 0;
}
