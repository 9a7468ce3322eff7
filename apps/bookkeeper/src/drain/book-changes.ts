import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Observable, Subject } from 'rxjs';

/** Says when the book has changed, to those of this process who show it. */
@Injectable()
export class BookChanges implements OnModuleDestroy {
  readonly #changes = new Subject<void>();

  /** Ends when the process stops. */
  get stream(): Observable<void> {
    return this.#changes.asObservable();
  }

  note(): void {
    this.#changes.next();
  }

  onModuleDestroy(): void {
    this.#changes.complete();
  }
}
