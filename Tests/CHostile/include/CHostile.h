/* System calls that Swift cannot make, for the decoder that behaves as an attacker. Each gives what the kernel says: -1 and
   errno. */
#ifndef CHOSTILE_H
#define CHOSTILE_H

int wi_try_memory_file(void);
int wi_try_fork(void);
int wi_try_trace(void);
int wi_try_reading_others(int process);
int wi_try_io_uring(void);
int wi_try_unshare(void);
int wi_try_socket(void);
int wi_try_kill(int process);
void wi_try_abort(void);
void wi_try_exit(void);
void wi_try_sleep(void);
/* A call by a number of x32; where there is none, a socket. */
int wi_try_old_calls(void);
/* A call by the interrupt of 32-bit programs; where there is none, a socket. */
int wi_try_interrupt(void);

#endif
