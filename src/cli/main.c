/* The command `tilewise`: parse, dispatch, and leave with the right code, also when a signal ends it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "mpi/command.h"

/* The signals that end the command and may come from a keyboard, a terminal, a shell's limits or a batch system. */
static const struct {
    int number;
    const char *text;
} caught[] = {
    {SIGINT, "tilewise: interrupted (SIGINT)\n"},
    {SIGTERM, "tilewise: terminated (SIGTERM)\n"},
    {SIGHUP, "tilewise: the terminal is gone (SIGHUP)\n"},
    {SIGQUIT, "tilewise: quit (SIGQUIT)\n"},
    {SIGXCPU, "tilewise: the limit of processor time is reached (SIGXCPU)\n"},
    {SIGALRM, "tilewise: ended by SIGALRM\n"},
    {SIGUSR1, "tilewise: ended by SIGUSR1\n"},
    {SIGUSR2, "tilewise: ended by SIGUSR2\n"},
};

enum { CAUGHT = sizeof caught / sizeof caught[0] };

/* No half-written file stays; then the default action, so that a shell sees which signal it was (128+n). */
static void on_signal(int number)
{
    const char *text = "";
    for (size_t i = 0; i < CAUGHT; i++)
        if (caught[i].number == number)
            text = caught[i].text;
    twi_io_cleanup();
    if (twi_progress_shown)
        (void)!write(STDERR_FILENO, twi_progress_blank, sizeof twi_progress_blank - 1);
    (void)!write(STDERR_FILENO, text, strlen(text));
    (void)signal(number, SIG_DFL);
    (void)raise(number); /* delivered on return: the number is blocked here */
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < CAUGHT; i++)
        (void)sigaddset(&action.sa_mask, caught[i].number);
    for (size_t i = 0; i < CAUGHT; i++)
        /* what the parent had ignored, as nohup does, stays so */
        if (sigaction(caught[i].number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(caught[i].number, &action, NULL);
    /* a closed pipe and a file past its limit are writes that fail, and so have their line and their code */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
}

/* A closed standard stream would give its number to the next file: it is filled so that using it fails. */
static void fill_standard_streams(void)
{
    for (int number = 0; number <= 2; number++)
        if (fcntl(number, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}

static twi_exit run(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "";
    const bool speaks = twi_ranks_join() == 0; /* what all ranks would say is said once */
    twi_args args;
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        if (speaks)
            twi_print_overview();
        return TWI_EXIT_DONE;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        if (speaks)
            printf("tilewise %s\n", tw_version());
        return TWI_EXIT_DONE;
    }
    if (twi_args_parse(argc, argv, &args) != TWI_EXIT_DONE)
        return speaks ? twi_complain(TWI_EXIT_USAGE, "%s", args.message) : TWI_EXIT_USAGE;
    if (args.help) {
        if (speaks)
            twi_print_help(args.command);
        return TWI_EXIT_DONE;
    }
    return twi_ranks_run(&args);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    catch_signals();
    twi_exit code = run(argc, argv);
    twi_ranks_leave();
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == TWI_EXIT_DONE)
        code = twi_complain(TWI_EXIT_OUTPUT, "stdout could not be written: %s",
                            errno ? strerror(errno) : "an earlier write failed");
    return (int)code;
}
