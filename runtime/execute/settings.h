/* The settings of the environment. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_SETTINGS_H_
#define QUADRILLE_RUNTIME_EXECUTE_SETTINGS_H_

struct qd_settings {
  int debug;        /* QUADRILLE_DEBUG: calls are logged and compared */
  int checks_plans; /* QUADRILLE_CHECK_PLANS: each plan is checked; that of a whole call before the call */
  double stall; /* QUADRILLE_STALL: after how many seconds a wait reports its peer; 0: never */
};

/* Reads them at the first call. */
const struct qd_settings* qd_settings(void);

#endif /* QUADRILLE_RUNTIME_EXECUTE_SETTINGS_H_ */
