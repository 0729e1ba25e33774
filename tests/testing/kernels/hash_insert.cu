// Inserts keys into an open hash table, each once, by compare-and-swap; 0 is an empty slot. `lost` counts the slots
// that were empty when read and taken when swapped. WITHOUT_SWAP stores instead, which loses keys when two threads
// collide.
using u32 = unsigned int;

extern "C" __global__ void insert(const u32* keys, u32 n, u32* slots, u32 capacity, u32* lost, u32* inserted) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const u32 key = keys[i];
    for (u32 slot = key * 2654435769u % capacity;; slot = (slot + 1) % capacity) {
        const u32 seen = static_cast<volatile u32*>(slots)[slot];
        if (seen == key) return;
        if (seen != 0) continue;
#if defined(WITHOUT_SWAP)
        static_cast<volatile u32*>(slots)[slot] = key;
        atomicAdd(inserted, 1u);
        return;
#else
        const u32 found = atomicCAS(&slots[slot], 0u, key);
        if (found != 0) atomicAdd(lost, 1u);
        if (found == 0) atomicAdd(inserted, 1u);
        if (found == 0 || found == key) return;
#endif
    }
}
