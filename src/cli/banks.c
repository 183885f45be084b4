/* The map of banks: a column a bank, a line of 32 words for each that is asked for, a lane in each word. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/banks.h"

enum { LEFT = 92, CELL = 27, LINE = 18, TITLE = 46, FOOT = 24, WIDTH = LEFT + TWI_BANKS * CELL + 12 };
enum { MOST_WORDS = TWI_WARP * 4 };

/* The words that a request asks for, by address. */
typedef struct map {
    size_t count;
    struct word {
        int64_t number; /* its address / 4 */
        int first;      /* lane */
        int last;
        int lanes;
        int part;    /* of the warp, taken together */
        int in_bank; /* different words of its bank that its part asks for, or lanes that wait for each other there */
    } words[MOST_WORDS];
} map;

static int compare_words(const void *a, const void *b)
{
    const int64_t x = ((const struct word *)a)->number;
    const int64_t y = ((const struct word *)b)->number;
    return (x > y) - (x < y);
}

static void add_lane(map *m, int64_t number, int lane, int part)
{
    for (size_t i = 0; i < m->count; i++) {
        struct word *word = &m->words[i];
        if (word->number == number) {
            word->last = lane;
            word->lanes++;
            return;
        }
    }
    m->words[m->count++] = (struct word){number, lane, lane, 1, part, 0};
}

static void make_map(const twi_banks *banks, map *m)
{
    int part = 0;
    int next = twi_lanes_together(banks, 0);
    m->count = 0;
    for (int lane = 0; lane < TWI_WARP; lane++) {
        const int64_t address = banks->address[lane];
        if (lane == next) {
            part++;
            next += twi_lanes_together(banks, lane);
        }
        for (int64_t at = address; address >= 0 && at < address + banks->bytes; at += TWI_WORD)
            add_lane(m, at / TWI_WORD, lane, part);
    }
    qsort(m->words, m->count, sizeof m->words[0], compare_words);
    for (size_t i = 0; i < m->count; i++)
        for (size_t j = 0; j < m->count; j++)
            if (m->words[j].part == m->words[i].part &&
                m->words[j].number % TWI_BANKS == m->words[i].number % TWI_BANKS)
                m->words[i].in_bank += banks->adds == TWI_ADDS_ANY ? m->words[j].lanes : 1;
}

/* Lines of 32 words with one that is asked for. */
static int lines_of(const map *m)
{
    int lines = 0;
    for (size_t i = 0; i < m->count; i++)
        lines += i == 0 || m->words[i].number / TWI_BANKS != m->words[i - 1].number / TWI_BANKS;
    return lines;
}

void twi_banks_words(int degree, char *text, size_t size)
{
    (void)snprintf(text, size, degree > 1 ? "%d-way conflict" : "no conflict", degree);
}

static void draw_word(const struct word *word, int x, int y, FILE *out)
{
    (void)fprintf(out,
                  "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" fill=\"%s\"/><text x=\"%d\" y=\"%d\" "
                  "text-anchor=\"middle\" font-size=\"%d\" fill=\"white\">",
                  x + 1, y + 1, CELL - 2, LINE - 2, word->in_bank > 1 ? "#c0392b" : "#1f7a5c", x + CELL / 2, y + 12,
                  word->lanes == 1 ? 9 : 8);
    if (word->lanes == 1)
        (void)fprintf(out, "%d", word->first);
    else
        (void)fprintf(out, word->lanes == word->last - word->first + 1 ? "%d-%d" : "%d..%d", word->first, word->last);
    (void)fputs("</text>\n", out);
}

/* The numbers of the banks, and frames around the lines. */
static void draw_frame(int top, int lines, FILE *out)
{
    (void)fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-size=\"10\" fill=\"black\">bank</text>\n",
                  LEFT - 8, top - 5);
    for (int bank = 0; bank < TWI_BANKS; bank++)
        (void)fprintf(out,
                      "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"10\" fill=\"black\">%d</text>"
                      "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\" "
                      "stroke-opacity=\"0.5\"/>\n",
                      LEFT + bank * CELL + CELL / 2, top - 5, bank, LEFT + bank * CELL, top, CELL, lines * LINE);
}

static int draw_access(const twi_explained *access, int top, FILE *out)
{
    char conflict[40];
    map m;
    make_map(&access->worst, &m);
    twi_banks_words(access->worst.degree, conflict, sizeof conflict);
    (void)fprintf(out,
                  "<text x=\"8\" y=\"%d\" font-size=\"13\" font-weight=\"600\" fill=\"black\">%s, %s, %d byte%s a "
                  "lane: %s</text>\n",
                  top + 18, access->what, twi_direction(access), (int)access->bytes, access->bytes == 1 ? "" : "s",
                  conflict);
    top += TITLE;
    draw_frame(top, lines_of(&m), out);
    int line = -1;
    for (size_t i = 0; i < m.count; i++) {
        const int64_t row = m.words[i].number / TWI_BANKS;
        if (i == 0 || row != m.words[i - 1].number / TWI_BANKS) {
            line++;
            (void)fprintf(out,
                          "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-size=\"10\" fill=\"black\">byte %" PRId64
                          "</text>\n",
                          LEFT - 8, top + line * LINE + 13, row * TWI_BANKS * TWI_WORD);
        }
        draw_word(&m.words[i], LEFT + (int)(m.words[i].number % TWI_BANKS) * CELL, top + line * LINE, out);
    }
    return top + lines_of(&m) * LINE + FOOT;
}

bool twi_banks_any(const twi_explanation *explanation)
{
    for (size_t i = 0; i < explanation->count; i++)
        if (explanation->accesses[i].space == TWI_SPACE_SHARED)
            return true;
    return false;
}

void twi_banks_draw(const twi_explanation *explanation, FILE *out)
{
    int height = 0;
    int top = 0;
    for (size_t i = 0; i < explanation->count; i++) {
        map m;
        if (explanation->accesses[i].space != TWI_SPACE_SHARED)
            continue;
        make_map(&explanation->accesses[i].worst, &m);
        height += TITLE + lines_of(&m) * LINE + FOOT;
    }
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                  "font-family=\"sans-serif\">\n",
                  WIDTH, height, WIDTH, height);
    for (size_t i = 0; i < explanation->count; i++)
        if (explanation->accesses[i].space == TWI_SPACE_SHARED)
            top = draw_access(&explanation->accesses[i], top, out);
    (void)fputs("</svg>\n", out);
}
