/*
 * Runs during the build: writes the network of a square window's median (cpu/order_network.h) as a list of macros, from
 * which src/cuda/rank_halving.cu makes code whose values are all in registers.
 * Usage: median_networks SIDE TILE_WIDTH TILE_HEIGHT
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu/order_network.h"

tw_status twi_host_allocate(const tw_context *context, size_t bytes, void **memory)
{
    (void)context;
    *memory = malloc(bytes);
    return *memory ? TW_OK : TW_ERROR_MEMORY;
}

void twi_host_release(const tw_context *context, void *memory)
{
    (void)context;
    free(memory);
}

/* An input is taken when it is first read, so that few are held at a time. */
static int number(const twi_order_network *network, unsigned char *taken, twi_order_slot slot)
{
    const int value = slot / TWI_NETWORK_SLOT;
    if (!taken[value])
        printf("TAKE(%d, %d, %d)\n", value, value % network->input_width, value / network->input_width);
    taken[value] = 1;
    return value;
}

static void write_list(const twi_order_network *network, unsigned char *taken)
{
    const twi_order_exchange *exchange = network->exchanges;
    const twi_order_pair *pair = network->pairs;
    printf("SLOTS(%d)\n", network->slots);
    for (int i = 0; i < network->tile_width * network->tile_height; i++) {
        const twi_order_output *output = &network->outputs[i];
        for (int k = 0; k < output->exchanges; k++, exchange++) {
            const int a = number(network, taken, exchange->a);
            const int b = number(network, taken, exchange->b);
            const int low = exchange->low / TWI_NETWORK_SLOT;
            const int high = exchange->high / TWI_NETWORK_SLOT;
            taken[low] = taken[high] = 1;
            printf("EXCHANGE(%d, %d, %d, %d)\n", a, b, low, high);
        }
        for (int k = 0; k < output->pairs; k++, pair++) {
            const int a = number(network, taken, pair->a);
            const int b = number(network, taken, pair->b);
            printf("%s(%d, %d)\n", k ? "PAIR" : "FIRST_PAIR", a, b);
        }
        printf("GIVE(%d, %d)\n", output->x, output->y);
    }
}

static int32_t argument(const char *text)
{
    return (int32_t)strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return EXIT_FAILURE;
    const int32_t side = argument(argv[1]);
    const tw_problem problem = {.window = {.width = side, .height = side}, .rank = side * side / 2};
    twi_order_network network;
    const tw_status status = twi_order_network_make(NULL, &problem, argument(argv[2]), argument(argv[3]), &network);
    unsigned char *taken = calloc((size_t)network.slots + 1, 1);
    const bool made = status == TW_OK && taken;
    if (made)
        write_list(&network, taken);
    free(taken);
    twi_order_network_free(NULL, &network);
    return made && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
