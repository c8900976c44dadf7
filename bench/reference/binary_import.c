/* Whether NVIDIA's driver blocks for good where one thread loads kernels of CUDA's into Vulkan (VK_NVX_binary_import) while another
 * makes and destroys devices. Each round is a child process, killed and counted as blocked when none of its calls returns for so many seconds.
 *
 *     cc -O2 -std=c11 binary_import.c -o binary_import -lvulkan -lpthread
 *     ./binary_import MANNER [ROUNDS [SECONDS [CUBIN]]]
 *
 * MANNER: what the two threads of a child do, each TIMES times.
 *   beside    one loads and destroys modules, the other makes and destroys devices
 *   modules   both load and destroy modules, each on a device of its own, and no device comes or goes
 *   keep      as `beside`, but modules stay until both threads have ended
 *   locked    as `beside`, and one lock is held over every such call, as pixelferry does
 *   first     all modules are loaded before the second thread begins, launched beside it, and destroyed after it
 *   launch    as `locked`, and the loading thread also records and submits a launch of what it loaded, without the lock
 * With CUBIN, modules are of that file (nvcc -cubin -arch=...) instead of PTX, so that no compiler runs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

enum { TIMES = 12 };

static const char PTX[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                          ".visible .entry fill(.param .u64 to, .param .u32 value)\n"
                          "{\n"
                          "  .reg .u64 %a;\n  .reg .u32 %v;\n"
                          "  ld.param.u64 %a, [to];\n  ld.param.u32 %v, [value];\n"
                          "  cvta.to.global.u64 %a, %a;\n  st.global.u32 [%a], %v;\n  ret;\n}\n";

enum manner { BESIDE, MODULES, KEEP, LOCKED, FIRST, LAUNCH, MANNERS };
static const char *const NAMES[MANNERS] = {"beside", "modules", "keep", "locked", "first", "launch"};

static enum manner manner;
static const void *text = PTX;
static size_t length = sizeof PTX; /* the closing zero is counted */
static VkInstance instance;
static VkPhysicalDevice physical;
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
/* Calls that returned, of both threads; seen by the parent. */
static _Atomic unsigned *returned;

/* A child ends by the number of what failed: the parent tells it from a block. */
#define MUST(call)                                                         \
    do {                                                                   \
        int result = (int)(call);                                          \
        if (result != 0) {                                                 \
            fprintf(stderr, "line %d: %s: %d\n", __LINE__, #call, result); \
            _exit(2);                                                      \
        }                                                                  \
    } while (0)

static void hold(void) {
    if (manner == LOCKED || manner == LAUNCH) pthread_mutex_lock(&alone);
}

static void release(void) {
    ++*returned;
    if (manner == LOCKED || manner == LAUNCH) pthread_mutex_unlock(&alone);
}

static VkDevice make_device(void) {
    const char *extensions[] = {"VK_NVX_binary_import"};
    float priority = 1;
    VkPhysicalDeviceVulkan12Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                 .bufferDeviceAddress = VK_TRUE};
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = 1,
                               .ppEnabledExtensionNames = extensions};
    VkDevice device;
    hold();
    MUST(vkCreateDevice(physical, &info, NULL, &device));
    release();
    return device;
}

static void destroy_device(VkDevice device) {
    hold();
    vkDestroyDevice(device, NULL);
    release();
}

struct kernel {
    VkCuModuleNVX module;
    VkCuFunctionNVX function;
};

#define FUNCTION(device, name) ((PFN_##name)vkGetDeviceProcAddr(device, #name))

static struct kernel load(VkDevice device) {
    struct kernel kernel;
    VkCuModuleCreateInfoNVX module = {.sType = VK_STRUCTURE_TYPE_CU_MODULE_CREATE_INFO_NVX,
                                      .dataSize = length,
                                      .pData = text};
    hold();
    MUST(FUNCTION(device, vkCreateCuModuleNVX)(device, &module, NULL, &kernel.module));
    VkCuFunctionCreateInfoNVX function = {.sType = VK_STRUCTURE_TYPE_CU_FUNCTION_CREATE_INFO_NVX,
                                          .module = kernel.module,
                                          .pName = "fill"};
    MUST(FUNCTION(device, vkCreateCuFunctionNVX)(device, &function, NULL, &kernel.function));
    release();
    return kernel;
}

static void unload(VkDevice device, struct kernel kernel) {
    hold();
    FUNCTION(device, vkDestroyCuFunctionNVX)(device, kernel.function, NULL);
    FUNCTION(device, vkDestroyCuModuleNVX)(device, kernel.module, NULL);
    release();
}

/* Memory, launch and what is read of it: all of it made for one launch. */
static void launch(VkDevice device, struct kernel kernel, unsigned value) {
    VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                      .size = 256,
                                      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                               VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    VkBuffer buffer;
    MUST(vkCreateBuffer(device, &buffer_info, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties memories;
    vkGetPhysicalDeviceMemoryProperties(physical, &memories);
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    unsigned type = 0;
    while (!(needs.memoryTypeBits >> type & 1) || (memories.memoryTypes[type].propertyFlags & wanted) != wanted) type++;
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .pNext = &flags,
                                        .allocationSize = needs.size,
                                        .memoryTypeIndex = type};
    VkDeviceMemory memory;
    MUST(vkAllocateMemory(device, &memory_info, NULL, &memory));
    MUST(vkBindBufferMemory(device, buffer, memory, 0));
    VkBufferDeviceAddressInfo address_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer};
    VkDeviceAddress address = vkGetBufferDeviceAddress(device, &address_info);
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    MUST(vkCreateCommandPool(device, &pool_info, NULL, &pool));
    VkCommandBufferAllocateInfo commands_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                 .commandPool = pool,
                                                 .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                 .commandBufferCount = 1};
    VkCommandBuffer commands;
    MUST(vkAllocateCommandBuffers(device, &commands_info, &commands));
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    MUST(vkBeginCommandBuffer(commands, &begin));
    const void *values[] = {&address, &value};
    VkCuLaunchInfoNVX info = {.sType = VK_STRUCTURE_TYPE_CU_LAUNCH_INFO_NVX,
                              .function = kernel.function,
                              .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
                              .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
                              .paramCount = 2,
                              .pParams = values};
    FUNCTION(device, vkCmdCuLaunchKernelNVX)(commands, &info);
    MUST(vkEndCommandBuffer(commands));
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    MUST(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    MUST(vkQueueWaitIdle(queue));
    unsigned *seen;
    MUST(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&seen));
    MUST(*seen == value ? 0 : 1);
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyBuffer(device, buffer, NULL);
    vkFreeMemory(device, memory, NULL);
}

static void *loads(void *unused) {
    (void)unused;
    struct kernel kernels[TIMES];
    VkDevice device = make_device();
    if (manner == FIRST)
        for (int i = 0; i < TIMES; i++) kernels[i] = load(device);
    pthread_barrier_wait(&together);
    for (int i = 0; i < TIMES; i++) {
        if (manner != FIRST) kernels[i] = load(device);
        if (manner == FIRST || manner == LAUNCH) launch(device, kernels[i], 1u + (unsigned)i);
        if (manner != FIRST && manner != KEEP) unload(device, kernels[i]);
    }
    pthread_barrier_wait(&together);
    if (manner == FIRST || manner == KEEP)
        for (int i = 0; i < TIMES; i++) unload(device, kernels[i]);
    destroy_device(device);
    return NULL;
}

static void *devices(void *unused) {
    (void)unused;
    pthread_barrier_wait(&together);
    for (int i = 0; i < TIMES; i++) destroy_device(make_device());
    pthread_barrier_wait(&together);
    return NULL;
}

static void child(void) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    MUST(vkCreateInstance(&info, NULL, &instance));
    unsigned count = 1;
    VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
    MUST(found == VK_SUCCESS || found == VK_INCOMPLETE ? 0 : found);
    MUST(pthread_barrier_init(&together, NULL, 2));
    pthread_t threads[2];
    MUST(pthread_create(&threads[0], NULL, loads, NULL));
    MUST(pthread_create(&threads[1], NULL, manner == MODULES ? loads : devices, NULL));
    for (int i = 0; i < 2; i++) MUST(pthread_join(threads[i], NULL));
    vkDestroyInstance(instance, NULL);
    _exit(0);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char **words) {
    for (manner = 0; count > 1 && manner < MANNERS && strcmp(words[1], NAMES[manner]) != 0;) manner++;
    if (count < 2 || manner == MANNERS) {
        fprintf(stderr, "usage: %s beside|modules|keep|locked|first|launch [ROUNDS [SECONDS [CUBIN]]]\n", words[0]);
        return 2;
    }
    int rounds = count > 2 ? atoi(words[2]) : 1000;
    double limit = count > 3 ? atof(words[3]) : 20;
    if (count > 4) {
        FILE *file = fopen(words[4], "rb");
        static char cubin[1 << 20];
        length = file ? fread(cubin, 1, sizeof cubin, file) : 0;
        text = cubin;
        if (length == 0) {
            fprintf(stderr, "%s cannot be read\n", words[4]);
            return 2;
        }
    }
    returned = mmap(NULL, sizeof *returned, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (returned == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    int blocked = 0, failed = 0, done = 0;
    double begun = now(), longest = 0;
    for (; done < rounds; done++) {
        double start = now(), last = start;
        unsigned seen = *returned;
        pid_t process = fork();
        if (process < 0) {
            perror("fork");
            return 2;
        }
        if (process == 0) child();
        int status = 0;
        pid_t ended;
        while ((ended = waitpid(process, &status, WNOHANG)) == 0 && now() - last < limit) {
            if (*returned != seen) (seen = *returned, last = now());
            usleep(2000);
        }
        if (ended == 0) {
            blocked++;
            kill(process, SIGKILL);
            waitpid(process, &status, 0);
        } else if (status != 0) {
            failed++;
        } else if (now() - start > longest) {
            longest = now() - start;
        }
    }
    printf("%s%s: %d rounds, %d blocked for %.0f s, %d failed, the longest of the others %.2f s, %.0f s in all\n", words[1],
           count > 4 ? " (cubin)" : "", done, blocked, limit, failed, longest, now() - begun);
    return blocked || failed;
}
