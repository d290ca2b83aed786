import { loaded } from './clients.ts';

/** A row of the table `users`. */
export interface User {
  id: number;
  name: string;
  email: string;
}

/** The table `users`. */
interface Users {
  /** All rows, in the order of their ids. */
  list(): Promise<User[]>;
  /** Stores a row, and returns it as it is stored. */
  add(user: Omit<User, 'id'>): Promise<User>;
}

/**
 * Opens a pool on the database that `DATABASE_URL` names; undefined if it is not set. The driver is loaded here and
 * not with the module, because a server of another workload does not need it.
 */
export async function openUsers(): Promise<Users | undefined> {
  const {
    DATABASE_URL: connectionString,
    BENCH_POOL_SIZE: size = '5',
    BENCH_POOL_OVERFLOW: overflow = '10',
    BENCH_POOL_TIMEOUT: seconds = '30',
  } = process.env;
  if (!connectionString) return undefined;
  const { Pool } = await import('pg');
  loaded.add('pg');
  const pool = new Pool({
    connectionString,
    max: Number(size) + Number(overflow),
    connectionTimeoutMillis: Number(seconds) * 1000,
  });
  // An error of a connection that nobody is using: without a listener it would end the process.
  pool.on('error', tell);

  const query = async (text: string, values: string[]): Promise<User[]> => {
    try {
      return (await pool.query<User>(text, values)).rows;
    } catch (error) {
      tell(error as Error);
      throw error;
    }
  };
  return {
    list: () => query('SELECT id, name, email FROM users ORDER BY id', []),
    async add({ name, email }) {
      const text = 'INSERT INTO users (name, email) VALUES ($1, $2) RETURNING id, name, email';
      const [row] = await query(text, [name, email]);
      return row as User;
    },
  };
}

/** Writes the error in the driver's words to the log of the server. */
function tell(error: Error): void {
  process.stderr.write(`${error.stack}\n`);
}
